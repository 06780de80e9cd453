// What is selected of the list: by id, so that it outlives every refresh of the
// rows, and jobs that are not on the page any more as well.
const picked = new Map(); // id → { name, status }
let anchor = null; // where a range begins

const list = document.getElementById("jobs");
const changed = []; // who is told

function rows() { return [...list.querySelectorAll("tr[data-id]")]; }

function boxOf(row) { return row.querySelector(".pick input"); }

function set(row, on) {
  if (on) picked.set(row.dataset.id, { name: row.dataset.name, status: row.dataset.status });
  else picked.delete(row.dataset.id);
}

// show makes boxes and rows say what is selected, and takes in new statuses.
function show(byViewer) {
  const all = rows();
  for (const row of all) {
    const on = picked.has(row.dataset.id);
    if (on) set(row, true);
    boxOf(row).checked = on;
    row.classList.toggle("picked", on);
  }
  const every = document.getElementById("pick-all");
  const on = all.filter((row) => picked.has(row.dataset.id)).length;
  if (every) {
    every.checked = all.length > 0 && on === all.length;
    every.indeterminate = on > 0 && on < all.length;
  }
  for (const tell of changed) tell([...picked], picked.size - on, byViewer);
}

function clicked(event) {
  if (event.target.id === "pick-all") {
    for (const row of rows()) set(row, event.target.checked);
    return show(true);
  }
  const row = event.target.closest(".pick input") && event.target.closest("tr[data-id]");
  if (!row) return;
  const on = event.target.checked;
  for (const one of event.shiftKey ? range(row) : [row]) set(one, on);
  anchor = row.dataset.id;
  show(true);
}

// range is from where the last click was to here.
function range(row) {
  const all = rows();
  const from = all.findIndex((one) => one.dataset.id === anchor);
  const to = all.indexOf(row);
  return from < 0 ? [row] : all.slice(Math.min(from, to), Math.max(from, to) + 1);
}

export function clearPicked() {
  picked.clear();
  show(true);
}

export function unpick(ids) {
  for (const id of ids) picked.delete(id);
  show(false);
}

// onPicked calls tell with [id, job] of all that is selected, how many of them are
// not on the page, and whether the viewer has just changed it.
export function onPicked(tell) {
  changed.push(tell);
  list.addEventListener("click", clicked);
  document.addEventListener("refreshed", () => show(false));
  show(false);
}
