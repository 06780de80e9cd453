// The page as it is now: bars move with progress, everything else comes anew from
// the server when something has happened, at most once a second.
import { follow } from "./events.js";
import { morph } from "./morph.js";
import { sayTimes } from "./time.js";
import { signInAgain } from "./api.js";

const every = 1000;
const longest = 30000; // of an answer: the connection of a later one is dead
const link = document.getElementById("link");
const progress = new Map(); // the newest of each attempt, until the next frame
let lostAt = 0; // since when nothing is heard
let due = 0; // a timer, where a fetch is to come
let fetched = 0; // when the last one began
let fetching = false;
let stream = null;
let since = link.dataset.event; // the page knows what happened until then

function show(state, text) {
  if (link.textContent === text) return;
  link.dataset.state = state;
  link.textContent = text;
}

// tellStale says for how long the page may be wrong.
function tellStale() {
  if (!lostAt) return;
  const s = Math.round((Date.now() - lostAt) / 1000);
  if (s < 5) show("reconnecting", "reconnecting…");
  else show("stale", `stale for ${s < 120 ? `${s} s` : `${Math.round(s / 60)} min`}`);
}

function stated(state) {
  if (state === "ended") signInAgain();
  if (state === "lost" && !lostAt) lostAt = Date.now();
  if (state === "live") {
    lostAt = 0;
    show("live", "live");
    if (!since) refresh(); // what happened before the stream began
    since = "";
  }
  tellStale();
}

// heard is told to the page's own module as well: event "rendermac" on document.
function heard(event) {
  document.dispatchEvent(new CustomEvent("rendermac", { detail: event }));
  if (event.type !== "progress") return refresh();
  if (progress.size === 0) requestAnimationFrame(move);
  progress.set(event.attempt_id, event.data);
}

function move() {
  for (const [attempt, data] of progress) {
    for (const bar of document.querySelectorAll(`[data-attempt="${CSS.escape(attempt)}"]`)) moveBar(bar, data);
    for (const text of document.querySelectorAll(`[data-progress="${CSS.escape(attempt)}"]`)) {
      const words = wordsOf(text.dataset.says, data);
      if (words !== null && text.textContent !== words) text.textContent = words;
    }
  }
  progress.clear();
}

const phases = { downloading: [0, 10], running: [10, 75], uploading: [85, 10], verifying: [95, 5] };

function moveBar(bar, { phase, fraction }) {
  const [from, width] = phases[phase] || [0, 0];
  const done = Math.round(from + width * (fraction || 0));
  bar.querySelector(".done").setAttribute("width", done);
  bar.setAttribute("aria-label", phase);
  if (typeof fraction === "number") bar.setAttribute("aria-valuenow", done);
  else bar.removeAttribute("aria-valuenow");
}

function wordsOf(what, { phase, fps, speed, eta_s: left }) {
  switch (what) {
    case "phase": return phase;
    case "speed": return fps ? `${Math.round(fps)} fps` : speed ? `${speed.toFixed(1)}×` : "";
    case "left": return left === null || left === undefined ? "" : left < 60 ? `${Math.ceil(left)} s left` : `${Math.ceil(left / 60)} min left`;
  }
  return null;
}

// refresh fetches this page again and puts its live parts in place.
export function refresh() {
  if (due) return;
  due = setTimeout(fetchAgain, Math.max(50, fetched + every - Date.now()));
}

async function fetchAgain() {
  due = 0;
  if (fetching) return refresh();
  fetching = true;
  fetched = Date.now();
  let lost = false;
  try { await replace(); } catch (err) { lost = err.name === "TimeoutError"; } // else the stream says that the server is away
  fetching = false;
  if (lost) refresh();
}

// showAddress shows at once what the page's address has become.
export async function showAddress() {
  fetched = Date.now();
  if (!await replace()) location.reload();
}

// replace tells whether the server has given the page.
async function replace() {
  const at = location.href;
  const answer = await fetch(at, { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(longest) });
  if (answer.redirected && new URL(answer.url).pathname === "/sign-in") {
    signInAgain();
    return true;
  }
  if (!answer.ok) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (at !== location.href) return true; // another one is on its way
  for (const old of document.querySelectorAll("[data-live][id]")) {
    const next = fresh.getElementById(old.id);
    if (next) {
      sayTimes(next);
      morph(old, next);
    }
  }
  document.dispatchEvent(new CustomEvent("refreshed"));
  return true;
}

function begin() {
  stream = new AbortController();
  follow("/v1/events", { since, hear: heard, state: stated, signal: stream.signal });
}

// watch keeps one stream while the page is seen: browsers allow six connections
// to a server over plain http, and hidden tabs would use them up.
export function watch() {
  if (!document.hidden) begin();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stream?.abort();
    else begin();
  });
  setInterval(tellStale, 1000);
}
