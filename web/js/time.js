// Every <time> is said in the viewer's zone: how long ago, the exact one in its title.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function relative(then, now) {
  const s = (then - now) / 1000;
  if (Math.abs(s) < 5) return "now";
  if (Math.abs(s) < 60) return ago.format(Math.round(s), "second");
  if (Math.abs(s) < 3600) return ago.format(Math.round(s / 60), "minute");
  if (Math.abs(s) < 86400) return ago.format(Math.round(s / 3600), "hour");
  return `${day.format(then)}, ${clock.format(then)}`;
}

export function sayTimes(root = document) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const then = new Date(time.dateTime);
    if (Number.isNaN(then.getTime())) continue;
    const text = time.dataset.form === "clock" ? clock.format(then) : relative(then, now);
    if (time.textContent !== text) time.textContent = text;
    time.title = exact.format(then);
  }
}

export function tellTimes() {
  sayTimes();
  setInterval(sayTimes, 10000);
}
