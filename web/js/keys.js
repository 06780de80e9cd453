// Keys for everything: g and a letter goes to a page, j and k walk the rows.
const pages = { o: "/", j: "/jobs", d: "/devices", s: "/settings" };
let going = false;

function isTyping(target) {
  return target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") !== null;
}

function rows() { return [...document.querySelectorAll("[data-row]")]; }

// step moves the mark among the rows, and the focus with it.
function step(by) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.classList.contains("at"));
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  for (const row of all) row.classList.toggle("at", row === next);
  const link = next.querySelector("a[href]");
  (link || next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function marked() { return document.querySelector("[data-row].at"); }

const acts = {
  "n": () => document.querySelector('.rail a[href="/new"]')?.click(),
  "/": () => document.getElementById("search").focus(),
  "j": () => step(1),
  "k": () => step(-1),
  "x": () => marked()?.querySelector("input[type=checkbox]")?.click(),
  "?": () => document.getElementById("keys").showModal(),
};

// isCommand tells a key that is pressed to do something from one that is typed.
export function isCommand(event) {
  return !(event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]"));
}

function pressed(event) {
  if (!isCommand(event)) return;
  if (going && pages[event.key]) {
    going = false;
    event.preventDefault();
    location.assign(pages[event.key]);
    return;
  }
  going = event.key === "g";
  if (event.key === "Enter" && event.target === document.body) marked()?.querySelector("a[href]")?.click();
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

export function listenForKeys() { document.addEventListener("keydown", pressed); }
