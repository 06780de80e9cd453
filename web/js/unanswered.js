// Where no answer has come the server may have acted all the same: a request that
// must not simply be repeated says what to do then.
import { Problem } from "./api.js";

const unanswered = [0, 502, 504];

export async function orUnanswered(request, words) {
  try {
    return await request;
  } catch (err) {
    if (err instanceof Problem && unanswered.includes(err.status)) throw new Error(`No answer came from the server. ${words}`);
    throw err;
  }
}
