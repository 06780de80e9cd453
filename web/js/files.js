// The list of files: two upload at a time, in its order.
import { leavesToSignIn } from "./api.js";
import { say } from "./say.js";
import { Row } from "./row.js";
import { Upload } from "./upload.js";

const atOnce = 2;

export class Files {
  all = []; // {upload, row}
  joined = false; // whether they become one job, in this order

  constructor(list, options, changed) {
    Object.assign(this, { list, options, changed });
    addEventListener("beforeunload", (event) => {
      if (this.unfinished() > 0 && !leavesToSignIn()) event.preventDefault();
    });
  }

  uploads() { return this.all.map(({ upload }) => upload); }
  ready() { return this.uploads().filter(({ state }) => state === "ready"); }
  failed() { return this.uploads().filter(({ state }) => state === "failed").length; }
  unfinished() { return this.uploads().filter((u) => u.isUnderWay() || u.state === "waiting").length; }

  add(files) {
    const twice = [];
    for (const file of files) {
      if (this.has(file)) twice.push(file.name);
      else this.append(file);
    }
    if (twice.length > 0) say(`${twice.length === 1 ? twice[0] : `${twice.length} of these files`} stood in the list already.`);
    this.arrange();
    this.advance();
  }

  has({ name, size, lastModified }) {
    return this.uploads().some(({ file }) => file.name === name && file.size === size && file.lastModified === lastModified);
  }

  append(file) {
    const upload = new Upload(file, { ...this.options, changed: () => this.draw(one) });
    const row = new Row(file.name, file.size, {
      up: () => this.move(one, -1), down: () => this.move(one, 1),
      again: () => { upload.again(); this.advance(); }, remove: () => this.remove(one),
    });
    const one = { upload, row, drawn: false };
    this.all.push(one);
    this.list.append(row.element);
    row.show(upload);
    if (file.size === 0) upload.fail("The file is empty: there is nothing to make anything of.", false);
  }

  // draw shows a row at most once a frame, for parts move often; what it becomes
  // is told at once, since a hidden page has no frames.
  draw(one) {
    if (one.state !== one.upload.state) {
      one.state = one.upload.state;
      one.row.show(one.upload);
      this.changed();
    } else if (!one.drawn) {
      one.drawn = true;
      requestAnimationFrame(() => {
        one.drawn = false;
        one.row.show(one.upload);
      });
    }
  }

  advance() {
    const waiting = this.all.filter(({ upload }) => upload.state === "waiting");
    const free = atOnce - this.uploads().filter((u) => u.isUnderWay()).length;
    for (const { upload } of waiting.slice(0, Math.max(0, free))) upload.run().then(() => this.advance());
    this.changed();
  }

  remove(one) {
    const at = this.all.indexOf(one);
    one.upload.stop();
    this.options.memory.hush(one.upload.file);
    one.row.element.remove();
    this.all.splice(at, 1);
    (this.all[Math.min(at, this.all.length - 1)]?.row.button("remove") || document.getElementById("choose")).focus();
    this.arrange();
    this.advance();
  }

  move(one, by) {
    const at = this.all.indexOf(one);
    this.all.splice(at, 1);
    this.all.splice(at + by, 0, one);
    this.list.insertBefore(one.row.element, this.all[at + by + 1]?.row.element || null);
    this.arrange();
    this.changed();
    const button = one.row.button(by < 0 ? "up" : "down");
    (button.disabled ? one.row.button(by < 0 ? "down" : "up") : button).focus();
  }

  join(joined) {
    this.joined = joined;
    this.arrange();
  }

  arrange() {
    this.list.classList.toggle("joined", this.joined);
    this.all.forEach(({ row }, i) => row.place(i + 1, i === this.all.length - 1, this.joined));
    this.list.parentElement.classList.toggle("full", this.all.length > 0);
  }

  clear() {
    for (const { row } of this.all) row.element.remove();
    this.all = [];
    this.arrange();
    this.changed();
  }
}
