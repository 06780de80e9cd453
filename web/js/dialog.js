// Sheets: a <dialog class="sheet"> over the page. Escape, a click beside it and
// whatever has data-close in it close it; the browser gives the focus back. One
// with data-stays is closed by its own button alone: what it shows is shown once.
import { Problem } from "./api.js";
import { plainly } from "./plainly.js";

const heard = new WeakSet(); // sheets whose clicks are listened to

// openSheet shows a sheet and forgets what an earlier form in it had complained of.
export function openSheet(sheet) {
  if (sheet.open) return;
  if (!heard.has(sheet)) listen(sheet);
  for (const form of sheet.querySelectorAll("form")) clearFaults(form);
  sheet.showModal();
  document.activeElement.select?.(); // what is typed takes the place of what stands there
}

// Chrome lets one cancel in a row be prevented: the second Escape would close the sheet.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.querySelector("dialog[data-stays][open]")) event.preventDefault();
});

function listen(sheet) {
  heard.add(sheet);
  if ("stays" in sheet.dataset) sheet.setAttribute("closedby", "none");
  // The second of a double click meets a sheet that the first one has opened.
  sheet.addEventListener("click", (event) => {
    if (event.detail > 1 && event.target.closest("button")) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);
  sheet.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) sheet.close();
  });
  // Where a press begins counts: a text that is selected beyond the edge closes nothing.
  sheet.addEventListener("pointerdown", (event) => {
    if (event.target === sheet && isBeside(sheet, event) && !("stays" in sheet.dataset)) sheet.close();
  });
  sheet.addEventListener("cancel", (event) => {
    if ("stays" in sheet.dataset) event.preventDefault();
  });
}

function isBeside(sheet, { clientX: x, clientY: y }) {
  const box = sheet.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}

// onSubmit calls act when the form is sent, once at a time, and says what it
// throws: the API's faults at their fields, the rest under them.
export function onSubmit(form, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    clearFaults(form);
    try {
      await act(form, event.submitter);
    } catch (err) {
      showFaults(form, err);
    } finally {
      form.removeAttribute("aria-busy");
    }
  });
}

function clearFaults(form) {
  for (const line of form.querySelectorAll(".fault")) line.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
}

// showFaults sets each fault of a problem at the field that it names.
function showFaults(form, err) {
  const faults = err instanceof Problem ? err.errors : [];
  const rest = faults.length === 0 ? [err.message] : [];
  for (const { location, message } of faults) {
    const field = fieldAt(form, location);
    const of = /\[\d+\]$/.test(location) ? "each " : ""; // of a list in one field
    if (field) mark(field, sentence(of + plainly(message)));
    else rest.push(`${location} ${plainly(message)}`.trim());
  }
  for (const text of rest) (form.querySelector(".actions") || form.lastElementChild).before(faultLine(text));
  form.querySelector("[aria-invalid]")?.focus();
}

// fieldAt finds the field of that name: "tags" too for a fault at tags[2].
function fieldAt(form, location) {
  for (const name of [location, location.replace(/\[.*$/, "")]) {
    const field = form.elements.namedItem(name);
    if (field) return field instanceof Element ? field : field[0];
  }
  return null;
}

// mark says a fault once, however many of a list have it.
function mark(field, text) {
  const around = field.closest(".field") || field.parentElement;
  if ([...around.querySelectorAll(".fault")].some((line) => line.textContent === text)) return;
  const line = faultLine(text);
  line.id = `fault-at-${field.name.replace(/\W/g, "-")}`;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", line.id);
  around.append(line);
}

function faultLine(text) {
  const line = document.createElement("p");
  line.className = "fault";
  line.setAttribute("role", "alert");
  line.textContent = text;
  return line;
}

// sentence makes one of "must be one word".
function sentence(text) { return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`; }
