// The list of jobs: its filter, and what is done with several at once.
import { call } from "./api.js";
import { retry } from "./again.js";
import { onSubmit, openSheet } from "./dialog.js";
import { refresh } from "./live.js";
import { clearPicked, onPicked } from "./pick.js";
import { actOn, faultsOf, outcomeOf } from "./several.js";

const ended = ["succeeded", "failed", "cancelled"];
const outcome = document.getElementById("outcome");
const bar = document.getElementById("several");
let picked = []; // [id, { name, status }]

function count(n, one, many) { return n === 1 ? `1 ${one}` : `${n} ${many}`; }

function hasEnded([, { status }]) { return ended.includes(status); }

function showPicked(all, away) {
  picked = all;
  bar.hidden = all.length === 0;
  if (bar.hidden) return;
  outcome.hidden = true;
  document.getElementById("several-count").textContent = `${all.length} selected`;
  document.getElementById("several-away").textContent = away > 0 ? `${away} of them not on this page` : "";
  const can = { cancel: !all.every(hasEnded), retry: all.some(hasEnded), priority: all.some(([, { status }]) => status === "queued"), none: true };
  for (const button of bar.querySelectorAll("[data-several]")) button.disabled = !can[button.dataset.several];
}

// act does one thing with all that is selected, and says what came of it.
async function act(what, how) {
  const buttons = [...bar.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  const result = await actOn(picked, how);
  clearPicked();
  document.getElementById("outcome-text").textContent = outcomeOf(result, what);
  document.getElementById("outcome-faults").replaceChildren(...faultsOf(result).map(itemOf));
  outcome.hidden = false;
  refresh();
}

function itemOf(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

function askToCancel() {
  const live = picked.filter((job) => !hasEnded(job)).length;
  const over = picked.length - live;
  document.getElementById("cancel-several-title").textContent = `Cancel ${count(live, "job", "jobs")}?`;
  document.getElementById("cancel-several-text").textContent =
    `What runs is stopped, and nothing of it is kept.${over > 0 ? ` ${over} of those selected ${over === 1 ? "has" : "have"} ended already and ${over === 1 ? "stays" : "stay"} as ${over === 1 ? "it is" : "they are"}.` : ""}`;
  document.querySelector("#cancel-several-form .danger").textContent = `Cancel ${count(live, "job", "jobs")}`;
  openSheet(document.getElementById("cancel-several"));
}

async function cancelPicked() {
  document.getElementById("cancel-several").close();
  await act("cancelled", (id) => call("POST", `/v1/jobs/${id}/cancel`));
}

function askForPriority() {
  document.getElementById("priority-several-title").textContent = `Priority of ${count(picked.length, "job", "jobs")}`;
  openSheet(document.getElementById("priority-several"));
}

async function prioritize(form) {
  const priority = priorityOf(form);
  document.getElementById("priority-several").close();
  await act(`set to priority ${priority}`, (id) => call("PATCH", `/v1/jobs/${id}`, { priority }));
}

function priorityOf({ elements: { priority: field } }) {
  const n = Number(field.value);
  if (field.value === "" || !Number.isInteger(n) || Math.abs(n) > 100) throw new Error("Must be a whole number from −100 to 100.");
  return n;
}

const acts = { cancel: askToCancel, retry: () => act("retried", retry), priority: askForPriority, none: clearPicked };

function offerActs() {
  bar.addEventListener("click", (event) => acts[event.target.closest("[data-several]")?.dataset.several]?.());
  document.getElementById("outcome-close").addEventListener("click", () => { outcome.hidden = true; });
  onSubmit(document.getElementById("cancel-several-form"), cancelPicked);
  onSubmit(document.getElementById("priority-several-form"), prioritize);
  onPicked(showPicked);
}

// filterAtOnce sends the filter when a choice is made. What is empty stays out of
// the address.
function filterAtOnce(form) {
  for (const list of form.querySelectorAll("select")) list.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

if (bar) offerActs();
if (document.getElementById("filter")) filterAtOnce(document.getElementById("filter"));
