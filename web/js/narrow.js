// What narrows the list is its address. Another one is shown in place, so that the
// focus stays where it is, and what is selected stays selected.
import { showAddress } from "./live.js";
import { say } from "./say.js";

const search = document.getElementById("search");
let shown = location.search;

// turnBy changes the address as it is by now: another change may be on its way.
function turnBy(edit) {
  const asked = new URLSearchParams(location.search);
  asked.delete("cursor");
  edit(asked);
  for (const [name, value] of [...asked]) if (value.trim() === "") asked.delete(name, value);
  turnTo(asked.size > 0 ? `/jobs?${asked}` : "/jobs");
}

function toggle(asked, status) {
  const on = asked.getAll("status").join(",").split(",");
  asked.delete("status");
  for (const one of on) if (one !== status) asked.append("status", one);
  if (!on.includes(status)) asked.append("status", status);
}

function turnTo(at) {
  history.pushState(null, "", at);
  return turn();
}

async function turn() {
  shown = location.search;
  try {
    await showAddress();
  } catch {
    return say("The server does not answer. The list comes as soon as it does.");
  }
  if (shown === location.search) settle();
}

// settle makes the fields say what the address does, and says how much there is.
function settle() {
  const asked = new URLSearchParams(location.search);
  search.value = asked.get("q") ?? "";
  document.querySelector(".filter")?.reset();
  const n = document.querySelectorAll("#jobs [data-row]").length;
  document.getElementById("listed").textContent = n === 0 ? "No jobs listed" : `${n} ${n === 1 ? "job" : "jobs"} listed`;
  if (document.activeElement === document.body) document.getElementById("content").focus({ preventScroll: true });
}

function clicked(event) {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!plain || link?.pathname !== "/jobs" || link.origin !== location.origin) return;
  event.preventDefault();
  if (link.matches(".pill")) return turnBy((asked) => toggle(asked, link.dataset.status));
  turnTo(link.href);
  if (!link.closest(".paging")) return;
  document.getElementById("content").focus({ preventScroll: true });
  scrollTo(0, 0);
}

export function narrowInPlace() {
  const narrow = document.getElementById("narrow"); // its form comes with the first job
  narrow.addEventListener("change", ({ target: { name, value }, target }) => {
    if (target.matches("select")) turnBy((asked) => asked.set(name, value));
  });
  narrow.addEventListener("submit", (event) => {
    event.preventDefault();
    turnBy((asked) => asked.append("label", document.getElementById("by-label").value));
  });
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    turnBy((asked) => asked.set("q", search.value));
  });
  document.getElementById("content").addEventListener("click", clicked);
  addEventListener("popstate", () => { if (location.search !== shown) turn(); });
  addEventListener("pageshow", () => document.querySelector(".filter")?.reset()); // a browser that goes back restores what was chosen
}
