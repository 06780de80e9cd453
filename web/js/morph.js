// morph makes an element like another, keeping what is the same in place: focus,
// selection and scroll stay. Elements with data-keep are left as they are.
export function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.hasAttribute("data-keep") || old.isEqualNode(fresh)) return;
  attributes(old, fresh);
  children(old, fresh);
}

// attributes goes by names: each look at .attributes would leave nodes behind.
function attributes(old, fresh) {
  for (const name of old.getAttributeNames()) {
    const isTheViewers = name === "open" || (name === "class" && old.hasAttribute("data-row"));
    if (!fresh.hasAttribute(name) && !isTheViewers) old.removeAttribute(name);
  }
  for (const name of fresh.getAttributeNames()) {
    const value = fresh.getAttribute(name);
    if (name === "class" && old.classList.contains("at")) old.className = `${value} at`;
    else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

function keyOf(node) { return node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset?.key || "" : ""; }

// children goes through both lists; a child with a key is found wherever it was.
function children(old, fresh) {
  const keyed = new Map();
  for (const node of old.childNodes) if (keyOf(node)) keyed.set(keyOf(node), node);
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const key = keyOf(next);
    const same = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === next.nodeName ? at : null;
    if (!same) {
      old.insertBefore(next, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    keyed.delete(key);
    morph(same, next);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}
