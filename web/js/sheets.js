// The sheets in which an act on several jobs is confirmed: how many jobs of which
// state it touches, and what becomes of them.
import { acts } from "./acts.js";
import { onSubmit, openSheet } from "./dialog.js";
import { stateOf } from "./states.js";

const sheetOf = (name) => document.getElementById(`${name}-several`);

// touched are those of the jobs that an act changes.
export function touched(name, jobs) { return jobs.filter(([, { status }]) => acts[name].touches[status]); }

export function openAct(name, jobs) {
  tell(name, jobs);
  openSheet(sheetOf(name));
}

// tellAgain keeps an open sheet true while jobs go on behind it.
export function tellAgain(jobs) {
  for (const name of Object.keys(acts)) if (sheetOf(name).open) tell(name, jobs);
}

function tell(name, jobs) {
  const act = acts[name];
  const sheet = sheetOf(name);
  const n = touched(name, jobs).length;
  const button = sheet.querySelector("form .actions button:last-child");
  sheet.querySelector("h2").textContent = n > 0 ? act.title(n) : "Nothing is left to do";
  button.textContent = act.button(n);
  button.hidden = button.disabled = n === 0;
  sheet.querySelector(".touched").replaceChildren(...lines({ ...act.touches, ...act.leaves }, jobs));
}

function lines(becomes, jobs) {
  return Object.keys(becomes).flatMap((status) => {
    const n = jobs.filter(([, job]) => job.status === status).length;
    return n > 0 ? [line(n, status, becomes[status])] : [];
  });
}

function line(n, status, text) {
  const item = document.createElement("li");
  const said = document.createElement("span");
  said.textContent = text;
  item.append(`${n}`, stateOf(status), said);
  return item;
}

// onAct calls act when a sheet is sent, and closes it unless that throws.
export function onAct(act) {
  for (const name of Object.keys(acts)) {
    const sheet = sheetOf(name);
    onSubmit(sheet.querySelector("form"), (form) => {
      const send = acts[name].sender(form);
      const what = acts[name].done(form);
      sheet.close();
      act(name, send, what);
    });
  }
}
