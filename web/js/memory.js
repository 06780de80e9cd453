// Which upload a file has, so that it goes on after a reload. A file is known by
// its name, size, time and the account; nothing of what it holds is kept.
const kind = "rendermac upload ";
const keepsFor = 7 * 86400e3; // the server's retention of uploads, unless it says otherwise

export class Memory {
  constructor(account) { this.account = account; }

  key(file) { return `${kind}${this.account} ${file.size} ${file.lastModified} ${file.name}`; }

  recall(file) { return this.read(this.key(file))?.id; }

  keep(file, id) {
    try { localStorage.setItem(this.key(file), JSON.stringify({ id, at: Date.now() })); } catch { /* full, or not allowed: it begins anew after a reload */ }
  }

  forget(file) {
    try { localStorage.removeItem(this.key(file)); } catch { /* not allowed: nothing was kept */ }
  }

  read(key) {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  }

  // clear drops what the server has dropped long ago.
  clear() {
    let keys = [];
    try { keys = Object.keys(localStorage); } catch { /* not allowed */ }
    for (const key of keys.filter((key) => key.startsWith(kind))) {
      if (!(this.read(key)?.at > Date.now() - keepsFor)) localStorage.removeItem(key);
    }
  }
}
