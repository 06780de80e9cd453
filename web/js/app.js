// What every page has: the live connection, times, keys, copying, sign-out.
import { call } from "./api.js";
import { watch } from "./live.js";
import { listenForKeys } from "./keys.js";
import { copyByClick } from "./copy.js";
import { tellTimes } from "./time.js";
import { say } from "./say.js";

async function signOut() {
  try {
    await call("DELETE", "/session");
    location.assign("/sign-in");
  } catch (err) {
    say(err.message);
  }
}

document.getElementById("sign-out").addEventListener("click", signOut);
document.getElementById("keys-help").addEventListener("click", () => document.getElementById("keys").showModal());
listenForKeys();
copyByClick();
tellTimes();
watch();
