// say tells everyone, a screen reader too, what has happened.
const line = document.getElementById("said");
let timer;

export function say(text) {
  clearTimeout(timer);
  line.textContent = text;
  timer = setTimeout(() => { line.textContent = ""; }, 6000);
}
