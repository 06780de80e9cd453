// What the server says once: a sheet shows it until its own button closes it, and
// then nothing on the page holds it any more.
import { copy } from "./copy.js";
import { openSheet } from "./dialog.js";

export function showOnce(sheet, name, secret) {
  const text = sheet.querySelector("[data-secret]");
  sheet.querySelector("[data-name]").textContent = name;
  text.textContent = secret;
  sheet.addEventListener("close", () => { text.textContent = ""; }, { once: true });
  openSheet(sheet);
}

export function offerCopy(sheet) {
  const button = sheet.querySelector("[data-called]");
  button.addEventListener("click", () => copy(sheet.querySelector("[data-secret]").textContent, button.dataset.called));
}
