// What can be done with several jobs: what becomes of a job in each state, what is
// sent for one, and how it is said. A state that touches does not name stays as it is.
import { call, Problem } from "./api.js";
import { retry } from "./again.js";
import { count } from "./words.js";

const hasEnded = "left alone: ended already";
const isLeft = "left alone: not queued";
const goesOn = "left alone: not ended yet";
const stopped = "will be stopped, with nothing of it kept";
const again = "will run again, as a new job";

const cancel = {
  touches: { queued: "will not start", active: stopped, verifying: stopped },
  leaves: { cancelling: "left alone: being cancelled already", succeeded: hasEnded, failed: hasEnded, cancelled: hasEnded },
  title: (n) => `Cancel ${count(n, "job")}?`,
  button: (n) => `Cancel ${count(n, "job")}`,
  sender: () => (id) => call("POST", `/v1/jobs/${id}/cancel`),
  done: () => "cancelled",
};

const retrying = {
  touches: { succeeded: again, failed: again, cancelled: again },
  leaves: { queued: goesOn, active: goesOn, verifying: goesOn, cancelling: goesOn },
  title: (n) => `Retry ${count(n, "job")}?`,
  button: (n) => `Retry ${count(n, "job")}`,
  sender: () => retry,
  done: () => "retried",
};

const priority = {
  touches: { queued: "will move in the queue" },
  leaves: { active: isLeft, verifying: isLeft, cancelling: isLeft, succeeded: isLeft, failed: isLeft, cancelled: isLeft },
  title: (n) => `Priority of ${count(n, "job")}`,
  button: (n) => `Set for ${count(n, "job")}`,
  sender: (form) => {
    const body = { priority: priorityOf(form) };
    return (id) => call("PATCH", `/v1/jobs/${id}`, body);
  },
  done: (form) => `set to priority ${priorityOf(form)}`,
};

function priorityOf({ elements: { priority: field } }) {
  const n = Number(field.value);
  if (field.value !== "" && Number.isInteger(n) && Math.abs(n) <= 100) return n;
  throw new Problem(422, { errors: [{ location: "priority", message: "must be a whole number from −100 to 100" }] });
}

export const acts = { cancel, retry: retrying, priority };
