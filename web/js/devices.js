// The devices: what an admin does with each. Rows say in their data what the
// sheets begin with.
import { call } from "./api.js";
import { onSubmit, openSheet } from "./dialog.js";
import { refresh } from "./live.js";
import { morph } from "./morph.js";
import { offerPairing } from "./pair.js";
import { say } from "./say.js";

const change = document.getElementById("change");
const revoke = document.getElementById("revoke");
let chosen = ""; // the id of the device that an open sheet is about

function patch(id, body) { return call("PATCH", `/v1/devices/${id}`, body); }

async function setDraining(row, draining) {
  try {
    await patch(row.id, { draining });
    say(draining ? `${row.dataset.name} takes no more jobs; what it runs goes on` : `${row.dataset.name} takes jobs again`);
  } catch (err) {
    say(err.message);
  }
  refresh();
}

function openChange(row) {
  const { name, slots, agentSlots, tags } = row.dataset;
  const { elements } = document.getElementById("change-form");
  chosen = row.id;
  document.getElementById("change-title").textContent = `Change ${name}`;
  document.getElementById("change-slots-hint").textContent = `How many jobs at once. Empty: as many as its agent says, now ${agentSlots}.`;
  elements.name.value = elements.name.defaultValue = name;
  elements.slots.value = elements.slots.defaultValue = slots;
  elements.tags.value = elements.tags.defaultValue = tags;
  openSheet(change);
}

// asked is what the form holds otherwise than it began with.
function asked({ elements: { name, slots, tags } }) {
  const body = {};
  if (name.value !== name.defaultValue) body.name = name.value;
  if (slots.value !== slots.defaultValue) body.slots = numberOf(slots.value.trim());
  if (tags.value !== tags.defaultValue) body.tags = tags.value.split(/[\s,]+/).filter(Boolean);
  return body;
}

// numberOf leaves what is no number to the server's refusal.
function numberOf(text) {
  if (text === "") return null;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

async function saveChange(form) {
  await patch(chosen, asked(form));
  change.close();
  refresh();
}

function openRevoke(row) {
  chosen = row.id;
  tellRevoke(row);
  openSheet(revoke);
}

// tellRevoke says what revoking would do now.
function tellRevoke(row) {
  const { name } = row.dataset;
  document.getElementById("revoke-title").textContent = `Revoke ${name}?`;
  document.getElementById("revoke-name").textContent = name;
  revoke.querySelector(".danger").textContent = `Revoke ${name}`;
  const runs = [...row.querySelectorAll("[data-ends]")];
  document.getElementById("revoke-idle").hidden = runs.length > 0;
  document.getElementById("revoke-busy").hidden = runs.length === 0;
  document.getElementById("revoke-count").textContent = runs.length === 1
    ? "It runs this job now, which goes to another Mac, or fails if it has no attempt left:"
    : `It runs ${runs.length} jobs now. Each goes to another Mac, or fails if it has no attempt left:`;
  const jobs = document.getElementById("revoke-jobs");
  const fresh = jobs.cloneNode();
  fresh.append(...runs.map(itemOf));
  morph(jobs, fresh);
}

function itemOf(link) {
  const item = document.createElement("li");
  item.append(link.cloneNode(true));
  return item;
}

async function revokeChosen() {
  const name = document.getElementById(chosen)?.dataset.name ?? "The Mac";
  await call("DELETE", `/v1/devices/${chosen}`);
  revoke.close();
  say(`${name} is revoked`);
  refresh();
}

const acts = {
  drain: (row) => setDraining(row, true),
  resume: (row) => setDraining(row, false),
  change: openChange,
  revoke: openRevoke,
};

// The second of a double click would meet Resume where the first has met Drain.
function clicked(event) {
  if (event.detail > 1) return;
  const button = event.target.closest("[data-act]");
  if (button) acts[button.dataset.act](button.closest(".mac"));
}

if (change) {
  document.getElementById("devices").addEventListener("click", clicked);
  onSubmit(document.getElementById("change-form"), saveChange);
  onSubmit(document.getElementById("revoke-form"), revokeChosen);
  document.addEventListener("refreshed", () => {
    const row = revoke.open && document.getElementById(chosen);
    if (row) tellRevoke(row);
  });
  offerPairing();
}
