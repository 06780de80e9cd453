// randomKey names one wish, so that asking for it twice makes it once. On plain
// http there is no crypto.randomUUID.
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
