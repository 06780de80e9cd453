// One file's row. show draws it as it is told; what is done with it is the list's.
import { isArchive, isTaken } from "./drop.js";
import { factsOf } from "./facts.js";
import { stateOf } from "./states.js";
import { bytes, duration, shown } from "./words.js";

export class Row {
  // acts are called by the names of the buttons: up, down, again, remove.
  constructor(fileName, size, acts) {
    const name = shown(fileName);
    this.element = document.getElementById("row").content.firstElementChild.cloneNode(true);
    this.part("name").textContent = name;
    this.part("name").title = name;
    this.part("size").textContent = bytes(size);
    this.size = size;
    this.part("bar").setAttribute("aria-label", `Upload of ${name}`);
    for (const button of this.element.querySelectorAll("[data-act]")) {
      button.setAttribute("aria-label", `${button.textContent}: ${name}`);
      button.addEventListener("click", () => acts[button.dataset.act]());
    }
  }

  part(name) { return this.element.querySelector(`.${name}`); }
  button(act) { return this.element.querySelector(`[data-act=${act}]`); }

  show(upload) {
    if (this.element.dataset.state !== upload.state) this.state(upload);
    const share = this.size > 0 ? upload.sent / this.size : 0;
    const percent = Math.floor(share * 100);
    this.element.querySelector(".done").setAttribute("width", percent);
    this.part("bar").setAttribute("aria-valuenow", percent);
    this.button("again").hidden = !upload.mayGoAgain;
    this.part("tale").textContent = taleOf(upload, percent, this.size);
  }

  state({ state, done, file }) {
    this.element.dataset.state = state;
    const unread = state === "ready" && !done.media && !isArchive(file.name); // there for a job, which may fail of it
    this.part("how").replaceChildren(stateOf(unread ? "unread" : state));
  }

  // place says where it stands among the files that are joined.
  place(n, last, movable) {
    this.part("place").textContent = n;
    this.button("up").hidden = this.button("down").hidden = !movable;
    this.button("up").disabled = n === 1;
    this.button("down").disabled = last;
  }
}

function taleOf(upload, percent, size) {
  if (upload.said) return upload.said;
  switch (upload.state) {
    case "waiting": return "Two files go at a time.";
    case "uploading": return underWay(upload, percent, size);
    case "reading": return "The server checks it and looks at what it is.";
    case "ready": return readyAs(upload.done.media, upload.file.name);
  }
  return "";
}

function underWay({ goesOnFrom, rate, sent }, percent, size) {
  const parts = [`${percent} %`];
  const speed = rate.perSecond();
  if (goesOnFrom > 0) parts.unshift(`Goes on from ${Math.floor(goesOnFrom * 100)} %`);
  if (speed > 0) parts.push(`${bytes(speed)}/s`, `${duration((size - sent) / speed)} left`);
  return parts.join(", ");
}

function readyAs(media, name) {
  if (!media && !isTaken(name)) return "This looks like no film, sound or picture: a job of it may well fail.";
  if (!media) return "The server cannot read this kind of file; a Mac may.";
  return media.oddity ? `${factsOf(media)} · ${media.oddity}` : factsOf(media);
}
