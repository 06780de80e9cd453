// Retrying a job: a request whose answer was lost is sent with the same key, so that
// it makes no second job.
import { call } from "./api.js";
import { randomKey } from "./random.js";

const keys = new Map(); // by job, until an answer has come

export async function retry(id) {
  if (!keys.has(id)) keys.set(id, randomKey());
  const headers = { "Idempotency-Key": keys.get(id) };
  try {
    const job = await call("POST", `/v1/jobs/${id}/retry`, undefined, headers);
    keys.delete(id);
    return job;
  } catch (err) {
    if (err.status) keys.delete(id);
    throw err;
  }
}
