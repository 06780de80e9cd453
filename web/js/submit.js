// Jobs are made in batches, each under a key of its own: who clicks twice, or lost
// the answer, gets the jobs that are there.
import { call } from "./api.js";
import { randomKey } from "./random.js";

const most = 500; // jobs in a batch

let keys = new Map(); // by what is asked for: something else gets another key

function keyOf(body) {
  const text = JSON.stringify(body);
  if (!keys.has(text)) keys.set(text, randomKey());
  return keys.get(text);
}

// jobsOf are the requests: one of all files, or one a file.
export function jobsOf(request, uploads, joins) {
  const input = ({ done }) => ({ upload_id: done.id });
  if (joins) return [{ ...request, inputs: uploads.map(input) }];
  return uploads.map((upload) => ({ ...request, inputs: [input(upload)] }));
}

export async function submit(jobs) {
  const made = [];
  for (let at = 0; at < jobs.length; at += most) {
    const body = { jobs: jobs.slice(at, at + most) };
    try {
      made.push(...(await call("POST", "/v1/jobs/batch", body, { "Idempotency-Key": keyOf(body) })).items);
    } catch (err) {
      throw at === 0 ? err : Object.assign(err, { message: `${at} jobs are made; the others not yet: ${err.message}` });
    }
  }
  keys = new Map(); // the same once more is another wish
  return made;
}
