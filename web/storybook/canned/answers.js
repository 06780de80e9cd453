// A server's answers, given in the page: what becomes of a file is in its name.
export { done, until } from "./sheets.js";

const film = {
  container: "mov", duration_s: 252.4, oddity: "", streams: [
    { kind: "video", codec: "prores", width: 3840, height: 2160, fps: 25, bit_depth: 10, rotation: 0, color: { transfer: "bt709" } },
    { kind: "audio", codec: "pcm", channels: 2, sample_rate: 48000, color: {} },
  ],
};
const phone = {
  container: "mov", duration_s: 14, oddity: "The file's index speaks of more pictures than it holds.", streams: [
    { kind: "video", codec: "hevc", width: 1080, height: 1920, fps: 29.97, bit_depth: 10, rotation: 90, color: { transfer: "arib-std-b67" } },
    { kind: "audio", codec: "aac", channels: 1, sample_rate: 44100, color: {} },
  ],
};
const partBytes = 64e6;
const uploads = [];

const no = (status, detail, errors = []) => [status, { detail, errors }];

function announce({ name, bytes }) {
  if (name.includes("full")) return no(507, "The disk of the store is full: free some of it, or add to it, then try again.");
  if (name.includes("huge")) return no(422, "The request was not taken.", [{ location: "bytes", message: "is more than this server takes: at most 2199023255552" }]);
  uploads.push(name);
  const parts = Array.from({ length: Math.max(1, Math.ceil(bytes / partBytes)) }, (_, i) => ({ number: i + 1, url: `/v1/blobs/${i < 4 ? "goes" : name.includes("slow") ? "hangs" : name.includes("cut off") ? "nobody" : "goes"}`, headers: {} }));
  return [201, { id: `upl_${uploads.length - 1}`, part_bytes: partBytes, parts, next_part: null }];
}

function complete(id) {
  const name = uploads[id.slice(4)];
  return [200, { id, name, media: name.endsWith(".mkv") || name.endsWith(".zip") ? null : name.includes("IMG") ? phone : film }];
}

export const routes = {
  jobs: ({ jobs }) => [201, {
    items: jobs.map(({ inputs: [first] }, i) => ({
      id: `job_01kbd3m8q5w9x2c7e4r6t8y${i}`,
      output_name: uploads[first.upload_id.slice(4)].replace(/\.\w+$/, ".mp4"),
    })),
  }],
};

function answerTo(method, path, body) {
  if (path === "/v1/uploads") return announce(body);
  if (path === "/v1/jobs/batch") return routes.jobs(body);
  return complete(path.split("/")[3]);
}

const real = window.fetch;
window.fetch = async (path, init = {}) => {
  if (!init.method || init.method === "GET") return real(path, init);
  const [status, body] = answerTo(init.method, path, JSON.parse(init.body));
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
};

// A PUT that arrives, hangs in its middle, or finds nobody.
window.XMLHttpRequest = class {
  upload = {};
  status = 200;
  open(_, url) { this.url = url; }
  setRequestHeader() {}
  abort() {}
  send() {
    setTimeout(() => {
      if (this.url.endsWith("nobody")) return Object.assign(this, { status: 0 }).onloadend();
      this.upload.onprogress({ loaded: this.url.endsWith("hangs") ? partBytes / 3 : partBytes });
      if (this.url.endsWith("goes")) this.onloadend();
    });
  }
};

// Files that say how large they are, and hold nothing.
const sizes = new Map();
Object.defineProperty(File.prototype, "size", { get() { return sizes.get(this.name); } });

export function choose(...names) {
  const some = new DataTransfer();
  for (const [name, size] of names) {
    sizes.set(name, size);
    some.items.add(new File([], name, { lastModified: 1700000000000 }));
  }
  const chooser = document.getElementById("files");
  chooser.files = some.files;
  chooser.dispatchEvent(new Event("change"));
}

export const states = (state) => document.querySelectorAll(`.file[data-state=${state}]`).length;

export function set(name, value) {
  const field = document.querySelector(`fieldset:not(:disabled) [name="${name}"], #new > details [name="${name}"]`);
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function tick(css) { document.querySelector(css).click(); }
