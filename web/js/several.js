// One act on several jobs: some requests at a time, and what came of each.
import { count } from "./words.js";

const together = 5; // browsers allow six connections, of which one is the stream's
const settling = [404, 409]; // the job is gone, or has gone on
const namesSaid = 3;

// actOn calls send(id) for each of [id, job], and answered after each. No fault ends
// it: a job is settled once it was done or there is nothing to do with it any more;
// with those that are open it can be tried again.
export async function actOn(jobs, send, answered) {
  const result = { all: jobs.length, settled: [], faults: new Map(), done: 0, open: 0 };
  const waiting = [...jobs];
  const worker = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      await one(job, send, result);
      answered(jobs.length - waiting.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, jobs.length) }, worker));
  return result;
}

async function one([id, { name }], send, result) {
  try {
    await send(id);
    result.done++;
    result.settled.push(id);
  } catch (err) {
    if (settling.includes(err.status)) result.settled.push(id);
    else result.open++;
    const why = whyOf(err);
    result.faults.set(why, [...(result.faults.get(why) ?? []), name]);
  }
}

// whyOf says what is wrong with a job that is to run again, or with the act itself.
function whyOf({ message, errors = [] }) {
  return errors.length > 0 ? errors.map(({ location, message: fault }) => `${location} ${fault}`).join("; ") : message;
}

// outcomeOf says it: "2 of 3 jobs cancelled." Why not, the items say.
export function outcomeOf({ done, all, open }, what) {
  const text = done === 0 ? noneOf(all, what) : `${done < all ? `${done} of ` : ""}${count(all, "job")} ${what}.`;
  if (open > 0 && all === 1) return `${text} It is still selected, to be tried again.`;
  return open > 0 ? `${text} ${open} ${open === 1 ? "is" : "are"} still selected, to be tried again.` : text;
}

function noneOf(all, what) { return all === 1 ? `The job was not ${what}.` : `None of the ${count(all, "job")} was ${what}.`; }

// faultItems say which jobs were refused for what.
export function faultItems({ faults }) {
  return [...faults].map(([why, names]) => {
    const item = document.createElement("li");
    names.slice(0, namesSaid).forEach((name, i) => {
      const said = document.createElement("bdi");
      said.textContent = name;
      item.append(i > 0 ? ", " : "", said);
    });
    item.append(names.length > namesSaid ? ` and ${names.length - namesSaid} more: ${why}` : `: ${why}`);
    return item;
  });
}
