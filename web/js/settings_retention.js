// Retention: what would be removed, and then its removal.
import { call } from "./api.js";
import { onSubmit, openSheet } from "./dialog.js";
import { say } from "./say.js";
import { orUnanswered } from "./unanswered.js";
import { bytes } from "./words.js";

const sheet = document.getElementById("gc");
const kinds = [["outputs", "Outputs"], ["uploads", "Uploads"], ["open_uploads", "Uploads that were never finished"],
  ["logs", "Logs of runs"], ["events", "Events"], ["deliveries", "Records of webhooks"]];

// rowsOf lists what there is any of; a log has no size of its own.
function rowsOf(report) {
  return kinds.map(([name, words]) => {
    const { count, bytes: size } = typeof report[name] === "object" ? report[name] : { count: report[name], bytes: null };
    return { words, count, size };
  }).filter(({ count }) => count > 0);
}

function cell(text, isNumber) {
  const td = document.createElement("td");
  td.textContent = text;
  td.className = isNumber ? "number" : "";
  return td;
}

function show(report) {
  const rows = rowsOf(report);
  const freed = bytes(rows.reduce((sum, { size }) => sum + (size ?? 0), 0));
  document.getElementById("gc-title").textContent = report.dry_run ? "What would be removed" : "Removed";
  document.getElementById("gc-words").textContent = wordsOf(report.dry_run, rows.length > 0, freed);
  const table = document.getElementById("gc-table");
  table.hidden = rows.length === 0;
  table.tBodies[0].replaceChildren(...rows.map(({ words, count, size }) => {
    const tr = document.createElement("tr");
    tr.append(cell(words), cell(count.toLocaleString("en"), true), cell(size === null ? "–" : bytes(size), true));
    return tr;
  }));
  sheet.querySelector("button.danger").hidden = !report.dry_run || rows.length === 0;
}

function wordsOf(isDry, isAny, freed) {
  if (!isAny) return isDry ? "Nothing is too old, or too much: nothing would be removed." : "There was nothing left to remove.";
  return isDry ? `${freed} would be freed. What is removed cannot be brought back; jobs stay listed, without their files.` : `${freed} were freed.`;
}

async function look(event) {
  const button = event.target;
  button.disabled = true;
  try {
    show(await call("POST", "/v1/gc", { dry_run: true }));
    openSheet(sheet);
  } catch (err) {
    say(err.message);
  }
  button.disabled = false;
}

export function offerRetention(refresh) {
  document.getElementById("settings").addEventListener("click", (event) => { if (event.target.id === "look") look(event); });
  onSubmit(sheet.querySelector("form"), async () => {
    show(await orUnanswered(call("POST", "/v1/gc", { dry_run: false }), "It may have been removed all the same, or in part: close this and look again."));
    refresh();
  });
}
