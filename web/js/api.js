// The JSON API, with the session's cookie.

// Problem is what the server refused, in its own words; of status 0 it has not answered.
export class Problem extends Error {
  constructor(status, body, retryAfter = 0) {
    super(body.detail || body.title || `The server answered ${status}.`);
    this.status = status;
    this.code = body.code;
    this.errors = body.errors || [];
    this.retryAfter = retryAfter; // seconds, where the server says
  }
}

// call sends one request. headers are few: Idempotency-Key.
export async function call(method, path, body, headers = {}) {
  let answer, read;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const isJSON = (answer.headers.get("Content-Type") || "").includes("json");
    read = isJSON ? await answer.json() : null;
  } catch { // also where the answer breaks off in its middle
    throw new Problem(0, { detail: "The server does not answer. Nothing is known to have changed; try again." });
  }
  if (answer.status === 401) signInAgain();
  if (!answer.ok) throw new Problem(answer.status, read || {}, Number(answer.headers.get("Retry-After")) || 0);
  return read;
}

let leaves = false;

// leavesToSignIn tells whether the page is on its way there: nothing is to hold it up.
export function leavesToSignIn() { return leaves; }

// signInAgain leaves for the sign-in page, which says why, to come back here.
export function signInAgain() {
  leaves = true;
  sessionStorage.setItem("ended", "yes");
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}
