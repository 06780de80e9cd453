// Signing in: by the link that was opened, by the session that is there already,
// or by a key.

const form = document.getElementById("sign-in");
const key = document.getElementById("key");

// next is where to go once signed in: a page of our own, whatever the address asks for.
function next() {
  const wanted = new URLSearchParams(location.search).get("next") || "/";
  const there = new URL(wanted, location.origin);
  return wanted.startsWith("/") && there.origin === location.origin ? there.pathname + there.search : "/";
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

// isSignedIn asks for this page once more, unless it knows already: a browser that
// came by a link on another site has kept back its cookie, and sends it now.
async function isSignedIn() {
  if (document.querySelector("[data-signed-in]")) return true;
  try {
    const answer = await fetch(location.pathname);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.querySelector("[data-signed-in]") !== null;
  } catch {
    return false; // signing in will say that the server does not answer
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
  if (answer.ok) return leave();
  const problem = await answer.json().catch(() => ({}));
  show(problem.detail || `The server answered ${answer.status}.`);
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
  if (token) await open({ token });
  else if (await isSignedIn()) leave();
  else show("");
}

form.addEventListener("submit", submit);
begin();
