// One job: what can be done with it, its log, its players, its webhook.
import { call } from "./api.js";
import { retry } from "./again.js";
import { offerRedelivery } from "./deliveries.js";
import { onSubmit, openSheet } from "./dialog.js";
import { offerLog } from "./job_log.js";
import { offerPlayers } from "./job_player.js";
import { refresh } from "./live.js";
import { say } from "./say.js";

const job = document.getElementById("job");
const every = 10000; // what runs is drawn to scale: its lane grows
const ended = ["succeeded", "failed", "cancelled"];

async function cancel() {
  await call("POST", `/v1/jobs/${job.dataset.id}/cancel`);
  document.getElementById("cancel").close();
  refresh();
}

async function prioritize({ elements: { priority: field } }) {
  const priority = field.value === "" ? null : Number(field.value);
  await call("PATCH", `/v1/jobs/${job.dataset.id}`, { priority });
  document.getElementById("priority").close();
  say(`Its priority is ${priority}`);
  refresh();
}

// again leads to the new job.
async function again(button) {
  const fault = document.getElementById("acts-fault");
  fault.textContent = "";
  button.disabled = true;
  try {
    location.assign(`/jobs/${(await retry(job.dataset.id)).id}`);
  } catch (err) {
    fault.textContent = [err.message, ...(err.errors || []).map(({ location: at, message }) => `${at} ${message}.`)].join(" ");
    button.disabled = false;
  }
}

function askForPriority() {
  document.getElementById("priority-value").value = job.dataset.priority;
  openSheet(document.getElementById("priority"));
}

const acts = {
  cancel: () => openSheet(document.getElementById("cancel")),
  priority: askForPriority,
  retry: again,
};

function offerActs() {
  job.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) acts[button.dataset.act](button);
  });
  onSubmit(document.getElementById("cancel-form"), cancel);
  onSubmit(document.getElementById("priority-form"), prioritize);
}

function goOn() {
  if (!document.hidden && !ended.includes(job.dataset.status)) refresh();
}

if (document.getElementById("cancel")) offerActs();
offerLog(job);
offerPlayers(job);
offerRedelivery(job);
setInterval(goOn, every);
