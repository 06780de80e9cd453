// What webtest looks for in a page. This text stands before each question, in
// a function of its own: the page sees nothing of it.

const visible = element => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;

const words = text => text.replace(/\s+/g, " ").trim();

const pressable = "a, button, summary, label, input, select, textarea, [role=button], [role=tab], [role=menuitem], [role=option], [role=switch]";

function names(element) {
  return [element.innerText, element.getAttribute("aria-label"), element.type === "submit" ? element.value : "", element.placeholder]
    .map(name => words(name ?? ""));
}

// byCSS gives nothing for what is no selector, since it may be a visible text.
function byCSS(wanted) {
  try {
    return [...document.querySelectorAll(wanted)];
  } catch {
    return [];
  }
}

// find gives what is named, the likeliest first: something to press of that
// name, then the innermost element of that text, then the selector's.
function find(wanted) {
  const pressables = [...document.querySelectorAll(pressable)].filter(e => names(e).includes(words(wanted)));
  const texts = pressables.length ? [] : [...document.querySelectorAll("body *")]
    .filter(e => words(e.textContent) === words(wanted) && !e.firstElementChild);
  return [...pressables, ...texts, ...byCSS(wanted)];
}

// point is where a finger reaches an element, or why none does.
function point(element) {
  if (!visible(element)) return { why: "it is not visible" };
  if (element.matches(":disabled, [aria-disabled=true]")) return { why: "it is disabled" };
  const inside = r => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
  if (!inside(element.getBoundingClientRect())) element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  const r = element.getClientRects()[0];
  const x = (Math.max(r.left, 0) + Math.min(r.right, innerWidth)) / 2;
  const y = (Math.max(r.top, 0) + Math.min(r.bottom, innerHeight)) / 2;
  const top = document.elementFromPoint(x, y);
  const reached = top && (element.contains(top) || top.contains(element) && top.matches("label") || top.control === element);
  return reached ? { found: { x, y } } : { why: "it is covered by " + (top ? top.outerHTML.slice(0, 200) : "nothing in the window") };
}

function reach(wanted) {
  let why = "nothing is called so";
  for (const element of find(wanted)) {
    const answer = point(element);
    if (answer.found) return answer;
    why = answer.why;
  }
  return { why };
}

// until asks again by a clock rather than by frames, which stand still where
// nothing is drawn.
function until(look, budget) {
  const end = performance.now() + budget;
  return new Promise(tell => {
    (function again() {
      let answer;
      try {
        answer = look();
      } catch (error) {
        answer = { why: String(error) };
      }
      if (answer.found !== undefined || performance.now() > end) tell(answer);
      else setTimeout(again, 20);
    })();
  });
}
