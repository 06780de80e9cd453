// One file on its way: announced, sent in parts, closed. It goes on with what an
// earlier page has sent of it.
import { call, Problem } from "./api.js";
import { insist } from "./insist.js";
import { Parts } from "./parts.js";
import { Rate } from "./rate.js";
import { randomKey } from "./random.js";
import { bytes } from "./words.js";

const rounds = 3; // how often parts are sent that the store had and has lost

export class Upload {
  state = "waiting"; // uploading, reading, ready, failed
  sent = 0;
  goesOnFrom = 0; // a share: what was there already
  said = ""; // why it waits, or has failed
  mayGoAgain = false; // whether trying again can help
  done = null; // what the server says of it at last

  constructor(file, { memory, elsewhere, changed }) {
    Object.assign(this, { file, memory, elsewhere, changed });
    this.key = randomKey();
  }

  isUnderWay() { return this.state === "uploading" || this.state === "reading"; }

  // run ends when the file is ready, has failed or was stopped.
  async run() {
    this.stopper = new AbortController();
    this.rate = new Rate();
    this.become("uploading");
    try {
      const done = await this.all();
      this.done = done;
      this.become("ready");
    } catch (err) {
      if (!this.stopper.signal.aborted) this.fail(wordsOf(err), !err.errors?.length); // what has a list of faults has them again
    }
  }

  stop() { this.stopper?.abort(); }

  again() { this.become("waiting"); }

  fail(said, mayGoAgain) { this.become("failed", said, mayGoAgain); }

  become(state, said = "", mayGoAgain = false) {
    Object.assign(this, { state, said, mayGoAgain });
    this.changed();
  }

  asks() {
    const waits = (said) => {
      if (this.said === said) return;
      this.said = said;
      this.changed();
    };
    return { signal: this.stopper.signal, waits };
  }

  async all() {
    const parts = await this.begin();
    for (let round = 1; ; round++) {
      await parts.send();
      this.become("reading");
      try {
        return await insist(() => call("POST", `/v1/uploads/${parts.id}/complete`, {}), this.asks());
      } catch (err) {
        if (err.code !== "upload_incomplete" || round === rounds) throw err;
      }
      this.become("uploading");
      await parts.look();
    }
  }

  // begin takes up the upload that is remembered, if the server has it still.
  async begin() {
    const id = this.memory.recall(this.file);
    if (id) {
      try {
        const page = await insist(() => call("GET", `/v1/uploads/${id}?from_part=1`), this.asks());
        if (page.bytes === this.file.size) return this.partsOf(page);
      } catch (err) {
        if (err.status !== 404) throw err;
      }
      this.key = randomKey(); // the one before has made what is gone
    }
    const { name, size } = this.file;
    const made = await insist(() => call("POST", "/v1/uploads", { name, bytes: size }, { "Idempotency-Key": this.key }), this.asks());
    this.memory.keep(this.file, made.id);
    return this.partsOf(made);
  }

  partsOf(page) {
    const parts = new Parts({ id: page.id, file: this.file, partBytes: page.part_bytes, elsewhere: this.elsewhere, ...this.asks() }, () => this.moved(parts));
    parts.take(page);
    this.goesOnFrom = this.file.size > 0 ? parts.sent() / this.file.size : 0;
    return parts;
  }

  moved(parts) {
    this.sent = parts.sent();
    this.rate.add(this.sent);
    this.changed();
  }
}

// wordsOf is a refusal as it stands beside a file.
function wordsOf(err) {
  if (!(err instanceof Problem) || err.errors.length === 0) return err.message;
  const subjects = { name: "The name", bytes: "The file" };
  return err.errors.map(({ location, message }) => `${subjects[location] || location} ${withSizes(message)}.`).join(" ");
}

// withSizes says numbers of bytes as people do.
function withSizes(text) { return text.replace(/\d{5,}/g, (n) => bytes(Number(n))); }
