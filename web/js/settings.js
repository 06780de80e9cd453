// The settings: sheets are opened by buttons with data-sheet in rows whose data
// says whom they are about.
import { offerRedelivery } from "./deliveries.js";
import { openSheet } from "./dialog.js";
import { refresh } from "./live.js";
import { offerAccounts, accountSheets } from "./settings_accounts.js";
import { offerKeys, keySheets } from "./settings_keys.js";
import { offerRetention } from "./settings_retention.js";

const prepare = { ...accountSheets, ...keySheets };

function clicked(event) {
  const button = event.target.closest("[data-sheet]");
  if (!button) return;
  const sheet = document.getElementById(button.dataset.sheet);
  const about = button.closest("[data-id]")?.dataset ?? {};
  for (const name of sheet.querySelectorAll("[data-name]")) name.textContent = about.name;
  prepare[sheet.id](sheet, about);
  openSheet(sheet);
}

if (document.getElementById("gc")) {
  document.getElementById("settings").addEventListener("click", clicked);
  offerAccounts(refresh);
  offerKeys(refresh);
  offerRedelivery(document.getElementById("settings"));
  offerRetention(refresh);
}
