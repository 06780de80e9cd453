// put writes one part. Only XMLHttpRequest tells how far a request has come.
import { Problem } from "./api.js";

const stall = 120000; // nothing moves for so long: the connection is dead

export function put({ url, headers }, body, { signal, progress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let watch;
    const moves = () => {
      clearTimeout(watch);
      watch = setTimeout(() => request.abort(), stall);
    };
    const stop = () => request.abort();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      moves();
      progress(event.loaded);
    };
    request.onloadend = () => {
      clearTimeout(watch);
      signal.removeEventListener("abort", stop);
      if (signal.aborted) reject(signal.reason);
      else if (request.status >= 200 && request.status < 300) resolve();
      else reject(problem(request));
    };
    signal.addEventListener("abort", stop);
    moves();
    request.send(body);
  });
}

// problem reads what a server of ours says, or an S3 server.
function problem(request) {
  const after = request.status ? Number(request.getResponseHeader("Retry-After")) || 0 : 0;
  if (request.status === 0) return new Problem(0, { detail: "The store of files does not answer." });
  try {
    return new Problem(request.status, JSON.parse(request.responseText), after);
  } catch {
    const tag = (name) => request.responseText.match(`<${name}>([^<]*)</${name}>`)?.[1];
    return new Problem(request.status, { code: tag("Code"), detail: tag("Message") && `The store says: ${tag("Message")}` }, after);
  }
}
