import { answer, click, done, opened, until } from "./sheets.js";

const { id } = document.querySelector("#api-keys [data-own]").dataset;
answer({ [`DELETE /v1/keys/${id}`]: [409, { detail: "This is the last admin key: make another one first, then revoke this one." }] });
click("[data-sheet=revoke-key]");
await opened("revoke-key");
click("#revoke-key .danger");
await until(() => document.querySelector("#revoke-key .fault"));
done();
