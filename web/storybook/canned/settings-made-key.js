import { accounts, answer, click, done, opened, set, until } from "./sheets.js";

answer({
  "GET /v1/accounts?limit=500": accounts,
  "POST /v1/keys": [201, { id: "key_x", name: "render scripts", key: "rm_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
});
click("[data-sheet=new-key]");
await until(() => document.getElementById("new-key-account").options.length === 3);
set("new-key-name", "render scripts");
click("#new-key .main");
await opened("made-key");
done();
