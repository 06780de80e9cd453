import { shown } from "./words.js";

// quote writes a word so that a shell reads it as it is, and a person sees all of it.
export function quote(word) {
  word = String(word);
  if (/^[A-Za-z0-9_@%+:,./=-]+$/.test(word)) return word;
  if (shown(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${[...word].map(written).join("")}'`;
}

// written is a character between $' and ', byte by byte where it is not seen: the
// bash of macOS knows no \u.
function written(c) {
  if (c === "'" || c === "\\") return `\\${c}`;
  if (shown(c) === c) return c;
  return [...new TextEncoder().encode(c)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

// file is a name that no program takes for an option.
export function file(name) { return quote(name.startsWith("-") ? `./${name}` : name); }
