// One stream of server-sent events, read by fetch: unlike EventSource it sees the
// comments of a stream where nothing happens, and so a connection that is dead.
const silent = 40000; // the server comments every 15 s

// follow calls hear for each event after that with the id since, or from now on,
// until the signal ends it; it reconnects by itself. state is told "live", "lost"
// or, where the session has ended, "ended".
export async function follow(path, { since = "", hear, state, signal }) {
  let last = since;
  for (let tries = 0; !signal.aborted;) {
    try {
      await read(path, last, signal, () => { tries = 0; state("live"); }, (event) => {
        if (event.id) last = event.id;
        hear(event);
      });
    } catch (err) {
      if (err.status === 401) return state("ended");
    }
    if (signal.aborted) return;
    state("lost");
    await pause(Math.min(500 * 2 ** tries, 5000), signal);
    tries++;
  }
}

async function read(path, last, signal, opened, hear) {
  const stop = new AbortController();
  const end = () => stop.abort();
  signal.addEventListener("abort", end);
  let watchdog = setTimeout(end, silent);
  try {
    const headers = { Accept: "text/event-stream" };
    if (last) headers["Last-Event-ID"] = last;
    const answer = await fetch(path, { headers, signal: stop.signal, cache: "no-store" });
    if (!answer.ok) throw Object.assign(new Error("no stream"), { status: answer.status });
    opened();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(end, silent);
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) tell(block, hear);
    }
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", end);
  }
}

// tell parses one block as the server writes it: id, event and one line of data.
function tell(block, hear) {
  const event = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
  }
  if (event.event) hear({ id: event.id, type: event.event, ...(event.data ? JSON.parse(event.data) : {}) });
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
