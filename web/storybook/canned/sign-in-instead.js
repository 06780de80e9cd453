import { done, until } from "./sheets.js";

const form = document.getElementById("sign-in");
await until(() => !form.hidden);
form.hidden = true;
document.getElementById("as").textContent = "wall screen";
document.getElementById("instead").hidden = false;
document.getElementById("stay").focus();
done();
