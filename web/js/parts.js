// The parts of one upload, two of them at a time. A browser allows six connections
// to a server: two files' parts, the stream of events, and one for all else.
import { call, Problem } from "./api.js";
import { insist, isAway, wait } from "./insist.js";
import { bytes } from "./words.js";
import { put } from "./put.js";

const atOnce = 2;
const freshTries = 4; // of a part that is refused, each with a fresh URL

export class Parts {
  // about is {id, file, partBytes, elsewhere: the store's origin, signal, waits}.
  constructor(about, moved) {
    Object.assign(this, about);
    this.moved = moved; // called when sent() has changed
    this.held = new Set();
    this.moving = new Map(); // bytes of the parts that are on their way
  }

  start(n) { return (n - 1) * this.partBytes; }
  length(n) { return Math.min(this.partBytes, this.file.size - this.start(n)); }

  sent() {
    let sum = 0;
    for (const n of this.held) sum += this.length(n);
    for (const loaded of this.moving.values()) sum += loaded;
    return Math.min(sum, this.file.size);
  }

  // look asks what is held, and for URLs of what is missing from a part on.
  async look(from = 1) {
    const page = await insist(() => call("GET", `/v1/uploads/${this.id}?from_part=${from}`), this);
    this.take(page);
    return page;
  }

  take(page) {
    if (page.held) this.held = new Set(page.held);
    this.todo = page.parts;
    this.next = page.next_part;
    this.moved();
  }

  async send() {
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, () => this.work()));
    const failed = ended.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  async work() {
    for (let part; !this.failed && (part = await this.following());) {
      try {
        await this.put(part);
      } catch (err) {
        this.failed = true; // the other one ends with the part it has
        throw err;
      }
    }
  }

  // following takes the next part; one worker at a time turns the page.
  async following() {
    while (this.todo.length === 0 && this.next) {
      this.turning ||= this.look(this.next).finally(() => { this.turning = null; });
      await this.turning;
    }
    return this.todo.shift();
  }

  async put(part) {
    const n = part.number;
    for (let tries = 0, refused = 0; ; tries++) {
      try {
        await this.putOnce(n, part);
        this.waits("");
        return;
      } catch (err) {
        this.signal.throwIfAborted();
        await this.readable(n);
        if (!isAway(err) && ++refused > freshTries) throw err;
        if (isAway(err)) await wait(await this.said(err), tries, this);
        else part = await this.fresh(n, err);
        if (!part) return;
      }
    }
  }

  async putOnce(n, part) {
    const body = this.file.slice(this.start(n), this.start(n) + this.length(n));
    const progress = (loaded) => {
      this.moving.set(n, Math.min(loaded, this.length(n)));
      this.moved();
    };
    try {
      await put({ url: this.address(part.url), headers: part.headers }, body, { signal: this.signal, progress });
      this.held.add(n);
    } catch (err) {
      if (err.code !== "part_held") throw err;
      this.held.add(n); // an earlier try has arrived
    } finally {
      this.moving.delete(n);
      this.moved();
    }
  }

  // fresh gives a part a new URL, or nothing where it is held by now; what a new
  // one cannot help is thrown.
  async fresh(n, err) {
    if (err.status === 413) throw new Problem(413, { detail: `A proxy on the way refuses parts of ${bytes(this.length(n))}: let it pass more, or set store.part_bytes lower on the server (1MiB, on S3 5MiB), then drop the file again.` });
    if (![400, 403, 404, 422, 500].includes(err.status)) throw err;
    const page = await insist(() => call("GET", `/v1/uploads/${this.id}?from_part=${n}`), this);
    if (!page.held.includes(n)) return page.parts.find((part) => part.number === n);
    this.held.add(n);
    return null;
  }

  // address leads to where this page is from, whatever the server calls itself: the
  // page may speak to no other server but the store.
  address(url) {
    if (this.elsewhere) return url;
    const { pathname, search } = new URL(url, location.href);
    return pathname.slice(pathname.indexOf("/v1/blobs/")) + search;
  }

  // said is why a part does not arrive.
  async said(err) {
    if (err.status !== 0) return err;
    return new Problem(0, { detail: this.elsewhere ? await whyNot(this.elsewhere, this.signal) : "The server does not answer." });
  }

  async readable(n) {
    try {
      await this.file.slice(this.start(n), this.start(n) + 1).arrayBuffer();
    } catch {
      throw new Problem(400, { detail: "The file was changed or moved while it was uploaded: drop it again." });
    }
  }
}

// whyNot is what keeps a page from a store. A browser hides from it what a store
// answers that does not let it in; but whether one answers at all, it tells.
async function whyNot(store, signal) {
  if (location.protocol === "https:" && store.startsWith("http:")) return `Browsers let no page on https send files to a store on plain http, as ${store} is: give it TLS.`;
  const answers = await fetch(store, { mode: "no-cors", signal }).then(() => true, () => false);
  if (!answers) return `The store at ${store} does not answer.`;
  return `The store at ${store} did not let this page send files: its bucket needs a CORS rule for ${location.origin} (docs/operations.md, “Files on S3”).`;
}
