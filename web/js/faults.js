// Faults stand at the fields that they are about; what has no field stands at the
// button.
import { chosen } from "./choice.js";
import { plainly } from "./plainly.js";
import { shown } from "./words.js";

const form = document.getElementById("new");
const rest = document.getElementById("make-faults");

export function clearFaults() {
  rest.replaceChildren();
  for (const input of form.querySelectorAll("[aria-invalid]")) clearFault(input);
}

export function clearFault(input) {
  const fault = document.getElementById(`${input.id}-fault`);
  if (!fault) return;
  fault.remove();
  input.removeAttribute("aria-invalid");
  input.setAttribute("aria-describedby", `${input.id}-help`);
}

// showFaults says what an error says, at each field the first fault that it has.
// files are those of the jobs, job by job.
export function showFaults(err, files) {
  clearFaults();
  const said = new Set(); // of several jobs alike, each has the same ones
  for (const { location = "", message } of err.errors || []) {
    const [, job = "0", at] = location.match(/^(?:jobs\[(\d+)\]\.)?(.*)$/s);
    const input = inputAt(at);
    if (input) showAt(input, about(labelOf(input), plainly(message)));
    else said.add(`${subject(at, files[job])}${plainly(message)}.`);
  }
  const [first, ...more] = form.querySelectorAll("[aria-invalid]");
  if (first) tell(more.length === 0 ? "One field is not right yet." : "Some fields are not right yet.");
  else if (said.size === 0) tell(err.message);
  for (const words of said) tell(words);
  first?.focus();
  first?.scrollIntoView({ block: "center" });
}

// about is one sentence where the server's words have no subject of their own.
function about(label, message) {
  const goesOn = /^(must|is|are|was|were|has|have|may|cannot|does|do|excludes|needs|expected)\b/.test(message);
  return `${label}${goesOn ? "" : ":"} ${message}.`;
}

function tell(words) { rest.append(paragraph(words)); }

function paragraph(words) {
  const p = document.createElement("p");
  p.textContent = shown(words);
  return p;
}

// inputAt is a field by the place in the request that it fills.
function inputAt(at) {
  const name = at.replace(/\[.*$/, "");
  const inside = name.startsWith("params.") ? chosen().offer : form;
  return inside.querySelector(`[name="${CSS.escape(name)}"]:not([type=radio])`);
}

function labelOf(input) { return form.querySelector(`label[for="${CSS.escape(input.id)}"]`).firstChild.textContent.trim(); }

// subject is what the server's words go on from.
function subject(at, files = []) {
  const input = at.match(/^inputs\[(\d+)\]/)?.[1];
  if (input) return `${files[input]?.file.name || "A file"}: `;
  if (at === "inputs") return "The files ";
  return at ? `${at} ` : "";
}

function showAt(input, words) {
  if (input.hasAttribute("aria-invalid")) return;
  for (let around = input.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  const fault = paragraph(words);
  fault.id = `${input.id}-fault`;
  fault.className = "fault";
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", `${fault.id} ${input.id}-help`);
  input.after(fault);
}
