// Deliveries of webhooks: sent again, and looked at again when the next try is due,
// for nothing on the stream of events tells of tries.
import { call } from "./api.js";
import { refresh } from "./live.js";
import { say } from "./say.js";

const longest = 2 ** 31 - 1; // what a timer can wait
let due = 0;

function lookAgain() {
  clearTimeout(due);
  const again = document.getElementById("webhooks")?.dataset.again;
  if (again) due = setTimeout(goOn, Math.min(Number(again) * 1000, longest));
}

// goOn leaves a hidden page as it is: it comes anew when it is seen again.
function goOn() {
  if (!document.hidden) refresh();
}

async function clicked(event) {
  const button = event.target.closest("[data-redeliver]");
  if (!button) return;
  button.disabled = true;
  try {
    await call("POST", `/v1/webhooks/deliveries/${button.closest("[data-id]").dataset.id}/redeliver`);
    say("It is sent again now");
  } catch (err) {
    say(err.message);
  }
  button.disabled = false;
  refresh();
}

// offerRedelivery is for the settings and for a job's own deliveries.
export function offerRedelivery(page) {
  page.addEventListener("click", clicked);
  document.addEventListener("refreshed", lookAgain);
  lookAgain();
}
