// quote writes a word so that a shell reads it as it is.
export function quote(word) {
  word = String(word);
  return /^[A-Za-z0-9_@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// file is a name that no program takes for an option.
export function file(name) { return quote(name.startsWith("-") ? `./${name}` : name); }
