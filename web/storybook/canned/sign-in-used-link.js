import { answer, click, done, set, until } from "./sheets.js";

answer({ "POST /session": [403, { detail: "This sign-in link was used before, and works once: make another with rendermac dashboard." }] });
await until(() => !document.getElementById("sign-in").hidden);
set("key", "x");
click("#sign-in button");
await until(() => document.getElementById("fault").textContent);
document.getElementById("key").value = "";
done();
