// What every page has: the live connection, times, keys, copying, sign-out.
import { call, signInAgain } from "./api.js";
import { watch } from "./live.js";
import { listenForKeys } from "./keys.js";
import { copyByClick } from "./copy.js";
import { tellTimes } from "./time.js";
import { say } from "./say.js";

const signedOut = new BroadcastChannel("signed out"); // the tabs share one session
signedOut.addEventListener("message", signInAgain);

async function signOut() {
  try {
    await call("DELETE", "/session");
    signedOut.postMessage("");
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
