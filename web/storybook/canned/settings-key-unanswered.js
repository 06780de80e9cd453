import { accounts, answer, click, done, set, until } from "./sheets.js";

answer({ "GET /v1/accounts?limit=500": accounts, "POST /v1/keys": [502, {}] });
click("[data-sheet=new-key]");
await until(() => document.getElementById("new-key-account").options.length === 3);
set("new-key-name", "render scripts");
click("#new-key .main");
await until(() => document.querySelector("#new-key .fault"));
done();
