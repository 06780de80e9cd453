// What a viewer does with rows, and a server's answers to it.
export { answer, click, done, opened, set, until } from "./sheets.js";

export function pick(...statuses) {
  for (const row of document.querySelectorAll("#jobs tbody tr")) if (statuses.includes(row.dataset.status)) row.querySelector("input").click();
}

export const every = ["queued", "active", "verifying", "cancelling", "succeeded", "failed", "cancelled"];
export const idOf = (name) => document.querySelector(`tr[data-name="${name}"]`).dataset.id;
