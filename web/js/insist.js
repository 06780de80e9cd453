// insist repeats what fails because the network or the server is away. What is
// refused, is refused.
const away = [0, 408, 425, 429, 502, 503, 504];
const serverTries = 5; // of an error that the server calls its own
const longest = 15000;

export function isAway(err) { return away.includes(err.status); }

// waits is told why and for how many seconds, and with "" when it goes on.
export async function insist(act, { signal, waits }) {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await act();
      if (tries > 0) waits("");
      return answer;
    } catch (err) {
      signal.throwIfAborted();
      if (!isAway(err) && !(err.status === 500 && tries < serverTries)) throw err;
      await wait(err, tries, { signal, waits });
    }
  }
}

// unasked leaves out what somebody is asked to do that is done without them.
function unasked(text) { return text.replace(/(\. Nothing is known to have changed)?; try again\.$/, "."); }

// wait is the pause before the next try: longer each time, as long as the server
// asks for, and over at once when the browser finds the network again.
export async function wait(err, tries, { signal, waits }) {
  const ms = err.retryAfter ? err.retryAfter * 1000 : Math.min(1000 * 2 ** tries, longest) * (0.75 + Math.random() / 2);
  waits(`${unasked(err.message)} Tries again in ${Math.ceil(ms / 1000)} s.`);
  await new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
  signal.throwIfAborted();
}
