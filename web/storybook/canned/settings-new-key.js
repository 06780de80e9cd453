import { accounts, answer, click, done, opened, until } from "./sheets.js";

answer({ "GET /v1/accounts?limit=500": accounts });
click("[data-sheet=new-key]");
await opened("new-key");
await until(() => document.getElementById("new-key-account").options.length === 3);
done();
