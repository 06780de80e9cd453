// Accounts: made, changed, and given a new webhook secret.
import { call } from "./api.js";
import { onSubmit } from "./dialog.js";
import { offerCopy, showOnce } from "./settings_secret.js";
import { say } from "./say.js";
import { orUnanswered } from "./unanswered.js";

const made = document.getElementById("made-secret");
let chosen = ""; // the id of the account that an open sheet is about

export const accountSheets = {
  "new-account": (sheet) => sheet.querySelector("form").reset(),
  "change-account": openChange,
  "replace-secret": (_, { id }) => { chosen = id; },
};

function openChange(sheet, { id, name, limit }) {
  const { elements } = sheet.querySelector("form");
  chosen = id;
  elements.name.value = elements.name.defaultValue = name;
  elements.credit_limit.value = elements.credit_limit.defaultValue = limit;
}

// limitOf leaves what is no number to the server's refusal.
function limitOf({ elements: { credit_limit: field } }) {
  const text = field.value.trim().replace(/[,\s]/g, "");
  if (text === "") return null;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function showSecret(account, replaced) {
  made.querySelector("[data-overlap]").hidden = !replaced;
  showOnce(made, account.name, account.webhook_secret);
}

export function offerAccounts(refresh) {
  const at = (id) => document.getElementById(id);
  const send = (id, act) => onSubmit(at(id).querySelector("form"), (form) => act(form).finally(refresh));
  send("new-account", async (form) => {
    const account = await orUnanswered(
      call("POST", "/v1/accounts", { name: form.elements.name.value, credit_limit: limitOf(form) }),
      "The account may have been made all the same: if it stands in the list, make it a new webhook secret, for nobody has seen its first one.",
    );
    at("new-account").close();
    showSecret(account, false);
  });
  send("change-account", async (form) => {
    const body = {};
    const { name, credit_limit: limit } = form.elements;
    if (name.value !== name.defaultValue) body.name = name.value;
    if (limit.value !== limit.defaultValue) body.credit_limit = limitOf(form);
    const account = await call("PATCH", `/v1/accounts/${chosen}`, body);
    at("change-account").close();
    say(`${account.name} is changed`);
  });
  send("replace-secret", async () => {
    const account = await orUnanswered(
      call("POST", `/v1/accounts/${chosen}/webhook-secret`),
      "The secret may have been replaced all the same, and nobody has seen the new one. Make another, and give it to all receivers at once: the one that they have may sign no more.",
    );
    at("replace-secret").close();
    showSecret(account, true);
  });
  offerCopy(made);
}
