// Sizes and durations as people say them, as web/say.go does.
const unshown = /[^\P{Cc}\t\n\r]|\p{Bidi_Control}/gu;
const units = ["", "kB", "MB", "GB", "TB"];

export function bytes(n) {
  if (n < 1000) return count(n, "byte");
  let unit = 0;
  for (; n >= 999.5 && unit < 4; unit++) n /= 1000;
  return `${n.toFixed(n < 9.95 && unit > 1 ? 1 : 0)} ${units[unit]}`;
}

export function duration(seconds) {
  const s = Math.round(seconds);
  if (seconds < 1) return "under 1 s";
  if (s < 60) return `${s} s`;
  if (s < 3600) return two(Math.floor(s / 60), "min", s % 60, "s");
  if (s < 86400) return two(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "min");
  return two(Math.floor(s / 86400), "d", Math.floor((s % 86400) / 3600), "h");
}

function two(a, unitA, b, unitB) { return b === 0 ? `${a} ${unitA}` : `${a} ${unitA} ${b} ${unitB}`; }

// clock says how long a film is: 4:12, or 1:02:03.
export function clock(seconds) {
  const s = Math.round(seconds);
  const rest = (n) => String(n).padStart(2, "0");
  if (s < 3600) return `${Math.floor(s / 60)}:${rest(s % 60)}`;
  return `${Math.floor(s / 3600)}:${rest(Math.floor((s % 3600) / 60))}:${rest(s % 60)}`;
}

export function count(n, one, many = `${one}s`) { return n === 1 ? `1 ${one}` : `${n.toLocaleString("en")} ${many}`; }

// shown escapes what is not seen but changes how others are, as web/shown.go does.
export function shown(text) { return text.replace(unshown, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`); }
