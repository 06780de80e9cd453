// How fast something goes, by its last ten seconds.
const span = 10000;

export class Rate {
  seen = [];

  // add takes how much there is by now.
  add(done, now = performance.now()) {
    this.seen.push([now, done]);
    while (this.seen.length > 2 && this.seen[0][0] < now - span) this.seen.shift();
  }

  // perSecond is 0 until enough is known.
  perSecond() {
    if (this.seen.length < 2) return 0;
    const [[from, before], [to, after]] = [this.seen[0], this.seen.at(-1)];
    return to - from < 500 ? 0 : Math.max(0, after - before) / (to - from) * 1000;
  }
}
