// One act on several jobs: some requests at a time, and what came of each.
const together = 6; // browsers allow so many connections, of which one is the stream's

// actOn calls act(id) for each job and gives how many of them it was done with, how
// many were refused by which code, and what else went wrong, each text once.
export async function actOn(jobs, act) {
  const result = { done: 0, refused: new Map(), faults: new Map() };
  const waiting = [...jobs];
  const worker = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await one(job, act, result);
  };
  await Promise.all(Array.from({ length: Math.min(together - 1, jobs.length) }, worker));
  return result;
}

async function one([id, { name }], act, result) {
  try {
    await act(id);
    result.done++;
  } catch (err) {
    const known = ["job_terminal", "job_not_terminal", "job_not_queued"].includes(err.code);
    const [into, key] = known ? [result.refused, err.code] : [result.faults, err.message];
    into.set(key, [...(into.get(key) || []), name]);
  }
}

const whys = {
  job_terminal: "had already ended",
  job_not_terminal: "had not ended yet",
  job_not_queued: (n) => (n === 1 ? "was not queued any more" : "were not queued any more"),
};

// outcomeOf says it: "12 cancelled; 2 had already ended".
export function outcomeOf({ done, refused, faults }, what) {
  const parts = done > 0 || refused.size + faults.size === 0 ? [`${done} ${what}`] : [];
  for (const [code, { length: n }] of refused) {
    const why = whys[code];
    parts.push(`${n} ${typeof why === "function" ? why(n) : why}`);
  }
  const failed = [...faults.values()].flat().length;
  if (failed > 0) parts.push(`${failed} could not be ${what}`);
  return parts.join("; ");
}

// faultsOf says which jobs were refused for what.
export function faultsOf({ faults }) {
  return [...faults].map(([text, names]) => `${names.length > 3 ? `${names.length} jobs` : names.join(", ")}: ${text}`);
}
