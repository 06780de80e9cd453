// Whatever has data-copy is copied by a click.
import { say } from "./say.js";

export async function copy(text, called = text) {
  if (await intoClipboard(text)) say(`Copied ${called}`);
  else say("This browser does not let a page copy: select the text and copy it.");
}

// intoClipboard goes by a selection where the page is plain http: browsers keep
// navigator.clipboard for secure ones.
async function intoClipboard(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* not allowed: the selection may be */ }
  }
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") || document.body).append(area);
  const before = document.activeElement;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  return done;
}

export function copyByClick() {
  document.addEventListener("click", (event) => {
    const from = event.target.closest("[data-copy]");
    if (from) copy(from.dataset.copy, from.dataset.called);
  });
}
