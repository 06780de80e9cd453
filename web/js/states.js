// stateOf is a fresh copy of how the page shows a state: its words are the server's,
// in a template that the page holds.
export function stateOf(name) {
  const known = [...document.getElementById("states").content.children].find((state) => state.textContent === name);
  return known.cloneNode(true);
}
