import { shown } from "./words.js";

// say tells everyone, a screen reader too, what has happened. Beside an open sheet
// nobody would see it or hear it: it is said in the sheet then.
const line = document.getElementById("said");
let timer;

export function say(text) {
  clearTimeout(timer);
  const place = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body;
  if (line.parentElement !== place) place.append(line);
  line.textContent = shown(text);
  timer = setTimeout(() => { line.textContent = ""; }, 6000);
}
