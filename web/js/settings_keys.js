// API keys: made, and revoked.
import { call } from "./api.js";
import { onSubmit } from "./dialog.js";
import { offerCopy, showOnce } from "./settings_secret.js";
import { say } from "./say.js";
import { orUnanswered } from "./unanswered.js";

const made = document.getElementById("made-key");
let chosen = {}; // the data of the key that the sheet is about

export const keySheets = {
  "new-key": (sheet) => {
    const form = sheet.querySelector("form");
    form.reset();
    offerChoice(form.elements.account_id);
  },
  "revoke-key": openRevoke,
};

// offerChoice fills the list of accounts, all of them: the page may show a part.
async function offerChoice(list) {
  const options = [];
  try {
    for (let cursor = ""; cursor !== null;) {
      const page = await call("GET", `/v1/accounts?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      options.push(...page.items.map(({ id, name }) => new Option(name, id)));
      cursor = page.next_cursor;
    }
    const chosen = list.value;
    list.replaceChildren(...options);
    if (chosen) list.value = chosen;
  } catch (err) {
    say(err.message);
  }
}

function openRevoke(sheet, about) {
  chosen = about;
  sheet.querySelector("[data-account]").textContent = about.account;
  sheet.querySelector("[data-if-own]").hidden = about.own === undefined;
}

async function make({ elements: { name, account_id: account, scope } }) {
  const key = await orUnanswered(
    call("POST", "/v1/keys", { name: name.value, account_id: account.value, scope: scope.value }),
    "The key may have been made all the same, and nobody has seen it. Look at the newest in the list: if it stands there, revoke it, then make another.",
  );
  document.getElementById("new-key").close();
  made.querySelector("[data-usage]").textContent =
    `export RENDERMAC_URL=${location.origin}\nexport RENDERMAC_API_KEY=…\nrendermac jobs\ncurl -H "Authorization: Bearer $RENDERMAC_API_KEY" "$RENDERMAC_URL/v1/jobs"`;
  showOnce(made, key.name, key.key);
}

async function revoke() {
  await call("DELETE", `/v1/keys/${chosen.id}`);
  document.getElementById("revoke-key").close();
  if (chosen.own !== undefined) return location.assign("/sign-in");
  say(`${chosen.name || "The key"} is revoked`);
}

export function offerKeys(refresh) {
  for (const [id, act] of [["new-key", make], ["revoke-key", revoke]]) {
    onSubmit(document.getElementById(id).querySelector("form"), (form) => act(form).finally(refresh));
  }
  offerCopy(made);
}
