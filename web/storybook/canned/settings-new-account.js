import { answer, click, done, opened, set, until } from "./sheets.js";

answer({ "POST /v1/accounts": [422, { detail: "The account was not made.", errors: [{ location: "name", message: "is another account's" }, { location: "credit_limit", message: "must be a whole number" }] }] });
click("[data-sheet=new-account]");
await opened("new-account");
set("new-account-name", "studio");
set("new-account-limit", "a lot");
click("#new-account .main");
await until(() => document.querySelectorAll("#new-account [aria-invalid]").length === 2);
done();
