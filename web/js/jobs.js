// The list of jobs: its filter, and what is done with several at once.
import { isCommand } from "./keys.js";
import { refresh } from "./live.js";
import { narrowInPlace } from "./narrow.js";
import { clearPicked, onPicked, unpick } from "./pick.js";
import { actOn, faultItems, outcomeOf } from "./several.js";
import { onAct, openAct, tellAgain, touched } from "./sheets.js";

const bar = document.getElementById("several");
const outcome = document.getElementById("outcome");
let picked = []; // [id, { name, status }]
let busy = false;

function showPicked(all, away, byViewer) {
  picked = all;
  if (busy) return;
  if (byViewer) outcome.hidden = true;
  bar.hidden = all.length === 0;
  document.getElementById("several-count").textContent = `${all.length} selected`;
  document.getElementById("several-away").textContent = away > 0 ? `${away} of them not on this page` : "";
  for (const button of buttons()) button.disabled = !can(button.dataset.several);
  tellAgain(all);
}

function buttons() { return [...bar.querySelectorAll("[data-several]")]; }

function can(name) { return name === "none" || touched(name, picked).length > 0; }

// act does one thing with what is selected and can have it done, and says what came
// of it. What can be tried again stays selected.
async function act(name, send, what) {
  const jobs = touched(name, picked);
  const told = document.getElementById("several-count");
  busy = true;
  for (const button of buttons()) button.disabled = true;
  const result = await actOn(jobs, send, (n) => { told.textContent = `${n} of ${jobs.length} sent`; });
  busy = false;
  document.getElementById("outcome-text").textContent = outcomeOf(result, what);
  document.getElementById("outcome-faults").replaceChildren(...faultItems(result));
  outcome.hidden = false;
  unpick(result.settled);
  if (bar.hidden || document.activeElement === document.body) document.getElementById("outcome-close").focus();
  refresh();
}

function begin(name) {
  if (busy || bar.hidden || !can(name)) return;
  if (name === "none") clearPicked();
  else openAct(name, picked);
}

// pressed does what a button of the bar says its key is.
function pressed(event) {
  const button = isCommand(event) && buttons().find((one) => one.getAttribute("aria-keyshortcuts") === event.key);
  if (!button || bar.hidden) return;
  event.preventDefault();
  begin(button.dataset.several);
}

function offerActs() {
  bar.addEventListener("click", (event) => begin(event.target.closest("[data-several]")?.dataset.several));
  document.addEventListener("keydown", pressed);
  document.getElementById("outcome-close").addEventListener("click", () => { outcome.hidden = true; });
  onAct(act);
  onPicked(showPicked);
}

if (bar) offerActs();
narrowInPlace();
