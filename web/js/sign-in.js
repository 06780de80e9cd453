// Signing in: by the link that was opened, by the session that is there already,
// or by a key.

const form = document.getElementById("sign-in");
const key = document.getElementById("key");
const notKept = "The server has signed you in, but this browser has not kept it: it blocks cookies here, or the dashboard is to be opened by https.";

// next is where to go once signed in: a page of our own, whatever the address asks for.
function next() {
  const wanted = new URLSearchParams(location.search).get("next") || "/";
  if (!wanted.startsWith("/") || !URL.canParse(wanted, location.origin)) return "/";
  const there = new URL(wanted, location.origin);
  const isOurs = there.origin === location.origin && !there.pathname.startsWith("//"); // as /.//other.site comes to be
  return isOurs ? there.pathname + there.search : "/";
}

function leave() {
  location.replace(next());
}

// takeToken takes the link's token out of the address, so that no history keeps it.
function takeToken() {
  const token = location.hash.slice(1);
  if (token) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

// keyOf is the name of the key that a sign-in page is asked for with; null where the
// browser has no session.
function keyOf(page) {
  return page.querySelector("[data-signed-in]")?.dataset.signedIn ?? null;
}

// askAgain asks for this page once more: a browser that came by a link on another site
// has kept back its cookie, and sends it now.
async function askAgain() {
  try {
    const answer = await fetch(location.pathname);
    return keyOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    return null; // signing in will say that the server does not answer
  }
}

// open opens a session by a link's token or by a key, or says why not.
async function open(secret) {
  let answer;
  try {
    answer = await fetch("/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(secret),
    });
  } catch {
    return show("The server does not answer. Look whether it runs, then try again.");
  }
  if (answer.ok) return await askAgain() === null ? show(notKept) : leave();
  const problem = await answer.json().catch(() => ({}));
  show(problem.detail || `The server answered ${answer.status}.`);
}

// offer lets whoever is signed in choose: a link that somebody else sent would have them
// work in that one's account.
function offer(token, as) {
  const instead = document.getElementById("instead");
  document.getElementById("state").textContent = "";
  document.getElementById("as").textContent = as || "that has no name";
  document.getElementById("stay").addEventListener("click", leave);
  document.getElementById("use").addEventListener("click", () => {
    instead.hidden = true;
    open({ token });
  });
  instead.hidden = false;
  document.getElementById("stay").focus();
}

// whyHere is what a page of before that left for this one has not said.
function whyHere() {
  const ended = sessionStorage.getItem("ended");
  sessionStorage.removeItem("ended");
  return ended ? "You are signed out here: somebody has signed out, or the key was revoked, or the session has ended." : "";
}

function show(sentence) {
  document.getElementById("state").textContent = "";
  document.getElementById("fault").textContent = sentence;
  form.hidden = false;
  key.select();
}

async function submit(event) {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  await open({ key: key.value.trim() });
  button.disabled = false;
}

async function begin() {
  const token = takeToken();
  const why = whyHere();
  const as = keyOf(document) ?? await askAgain();
  if (token && as !== null) offer(token, as);
  else if (token) await open({ token });
  else if (as !== null) leave();
  else show(why);
}

form.addEventListener("submit", submit);
begin();
