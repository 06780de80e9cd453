// Which upload a file has, so that it goes on after a reload. A file is known by
// its name, size, time and the account; nothing of what it holds is kept.
import { count } from "./words.js";

const kind = "rendermac upload ";
const keepsFor = 7 * 86400e3; // the server's retention of uploads, unless it says otherwise

export class Memory {
  constructor(account) { this.account = account; }

  key(file) { return `${kind}${this.account} ${file.size} ${file.lastModified} ${file.name}`; }

  recall(file) { return this.read(this.key(file))?.id; }

  keep(file, id) { this.write(this.key(file), { id, at: Date.now() }); }

  write(key, value) {
    try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* full, or not allowed: it begins anew after a reload */ }
  }

  forget(file) {
    try { localStorage.removeItem(this.key(file)); } catch { /* not allowed: nothing was kept */ }
  }

  // hush keeps a file that was removed from the list, and speaks of it no more.
  hush(file) {
    const kept = this.read(this.key(file));
    if (kept) this.write(this.key(file), { ...kept, hushed: true });
  }

  read(key) {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  }

  keys() {
    try { return Object.keys(localStorage).filter((key) => key.startsWith(kind)); } catch { return []; } // not allowed
  }

  // clear drops what the server has dropped long ago.
  clear() {
    for (const key of this.keys()) {
      if (!(this.read(key)?.at > Date.now() - keepsFor)) localStorage.removeItem(key);
    }
  }

  // said speaks of the files that an earlier page was sending.
  said() {
    const names = this.keys().filter((key) => key.startsWith(`${kind}${this.account} `) && !this.read(key)?.hushed)
      .map((key) => key.slice(kind.length).split(" ").slice(3).join(" "));
    if (names.length === 0) return "";
    const all = names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${count(names.length - 2, "more file")}` : names.join(", ");
    if (names.length === 1) return `An earlier upload has no job yet: ${all}. Drop it again, and it goes on where it was.`;
    return `Earlier uploads have no job yet: ${all}. Drop them again, and they go on where they were.`;
  }
}
