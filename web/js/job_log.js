// The log of an attempt: its kept tail, read again while it may have grown. What was
// read stays in place, so that a selection in it stays too.
import { copy } from "./copy.js";

const every = 1000;
const near = 24; // pixels from the end: who is there follows

let job; // the page's part that says which job it is
let shown = { attempt: "", text: "" };
let due = 0; // a timer, where it is to be read again
let read = 0; // when that began last
let reading = false;

function at(id) { return document.getElementById(id); }

// chosen is an attempt's number; "" while there was none.
function chosen() {
  return at("log-attempt")?.value ?? at("log-raw")?.getAttribute("href").split("/").at(-2) ?? "";
}

function whyNone() { return (at("log-attempt")?.selectedOptions[0] ?? at("log-raw")).dataset.none; }

function soon() {
  if (!due) due = setTimeout(look, Math.max(0, read + every - Date.now()));
}

async function look() {
  due = 0;
  const attempt = chosen();
  if (!attempt) return;
  if (reading) return soon();
  reading = true;
  read = Date.now();
  try {
    const path = `/v1/jobs/${job.dataset.id}/attempts/${attempt}/log`;
    at("log-raw").href = path;
    const answer = await fetch(path, { cache: "no-store" });
    if (answer.ok) show(attempt, await answer.text());
  } catch { /* the stream says when the server is away */ }
  reading = false;
  if (chosen() !== attempt) soon();
}

function show(attempt, text) {
  const pre = at("log-text");
  const more = attempt === shown.attempt ? addedTo(shown.text, text) : null;
  if (more === null) pre.textContent = text;
  else if (more) pre.append(more);
  shown = { attempt, text };
  pre.hidden = text === "";
  at("log-none").textContent = text === "" ? whyNone() : "";
  at("log-none").hidden = text !== "";
  if (more !== "") follow();
}

// addedTo is what a tail has more than the one before; null where that has lost its
// beginning, for only so much is kept.
function addedTo(before, text) { return text.startsWith(before) ? text.slice(before.length) : null; }

function follow() {
  const pre = at("log-text");
  if (at("log-follow").checked) pre.scrollTop = pre.scrollHeight;
}

// scrolled: who goes back to read is left there, who comes to the end follows again.
function scrolled() {
  const pre = at("log-text");
  at("log-follow").checked = pre.scrollHeight - pre.scrollTop - pre.clientHeight < near;
}

function changed({ target: { id, checked } }) {
  if (id === "log-attempt") soon();
  if (id === "log-follow") follow();
  if (id === "log-wrap") at("log-text").classList.toggle("wrapped", checked);
}

let newest = ""; // of the attempts to choose from

// refreshed goes on to a new attempt, and hears the end of a log.
function refreshed() {
  const list = at("log-attempt");
  const first = list?.options[0].value ?? "";
  if (list && first !== newest && at("log-follow").checked) list.value = first;
  newest = first;
  if (chosen()) soon();
}

export function offerLog(page) {
  job = page;
  job.addEventListener("change", changed);
  job.addEventListener("click", ({ target: { id } }) => { if (id === "log-copy") copy(shown.text, "the log"); });
  job.addEventListener("wheel", ({ target }) => { if (target.id === "log-text") requestAnimationFrame(scrolled); }, { passive: true });
  job.addEventListener("keyup", ({ target }) => { if (target.id === "log-text") scrolled(); });
  document.addEventListener("refreshed", refreshed);
  document.addEventListener("rendermac", ({ detail: { type, job_id: id } }) => { if (type === "progress" && id === job.dataset.id) soon(); });
  refreshed();
}
