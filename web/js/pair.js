// Pairing: a code, the wait for the Mac that uses it, and its arrival. The server
// names the device that a code will make, so that no other is taken for it.
import { call } from "./api.js";
import { onSubmit, openSheet } from "./dialog.js";
import { shown } from "./words.js";

const sheet = document.getElementById("pair");
const part = (name) => document.getElementById(`pair-${name}`);
let pairing = null; // the code that is waited for, or the last one
let step = "ask"; // then wait; then late or paired; then online
let timer = 0;

export function offerPairing() {
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-pair]")) open();
    else if (target.closest("[data-again]")) begin();
  });
  addEventListener("hashchange", openByAddress);
  openByAddress();
  onSubmit(part("form"), ask);
  sheet.addEventListener("close", forgetAddress);
  document.addEventListener("rendermac", ({ detail }) => heard(detail));
  document.addEventListener("refreshed", look);
}

function openByAddress() {
  if (location.hash === "#pair") open();
}

// forgetAddress takes #pair away, so that going there again opens the sheet again.
function forgetAddress() {
  if (location.hash === "#pair") history.replaceState(history.state, "", location.pathname + location.search);
}

// open goes on with a code that still waits.
function open() {
  if (step !== "wait") begin();
  openSheet(sheet);
}

function begin() {
  part("form").reset();
  go("ask");
  part("name").focus();
}

async function ask(form) {
  const name = form.elements.name.value;
  pairing = await call("POST", "/v1/pairings", name ? { name } : {});
  part("code").textContent = pairing.code;
  part("command").textContent = pairing.command;
  part("copy").dataset.copy = pairing.command;
  part("loopback").hidden = !/\/\/(127\.|localhost|\[::1\])/.test(pairing.command);
  go("wait");
  count();
  timer = setInterval(count, 1000);
  part("copy").focus();
}

// go shows what belongs to a step.
function go(to) {
  step = to;
  clearInterval(timer);
  for (const element of sheet.querySelectorAll("[data-steps]")) {
    element.hidden = !element.dataset.steps.split(" ").includes(step);
  }
}

// count says for how long the code works.
function count() {
  const left = Math.ceil((Date.parse(pairing.expires_at) - Date.now()) / 1000);
  if (left <= 0) return go("late");
  part("valid").textContent = `The code works once, for another ${left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`}.`;
}

function arrive(to, name) {
  for (const element of sheet.querySelectorAll("[data-arrived]")) element.textContent = shown(name);
  go(to);
}

// isAwaited also of a code that expired here as it was used there.
function isAwaited(device) { return device === pairing?.device_id && (step === "wait" || step === "late"); }

function heard({ type, device_id: device, data }) {
  if (type === "device.paired" && isAwaited(device)) arrive("paired", data.name);
}

// look finds the device in the list too: an event is missed while the page is
// hidden, as it may be behind the window that the command is typed in.
function look() {
  const row = pairing && document.getElementById(pairing.device_id);
  if (!row) return;
  const { name, state } = row.dataset;
  if (isAwaited(row.id)) arrive("paired", name);
  if (step === "paired" && state === "online") arrive("online", name);
}
