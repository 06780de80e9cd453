// Films, sounds and pictures. Where the browser cannot show one, the page says so
// and offers the download.
const offered = new WeakSet();

export function offerPlayers(job) {
  const look = () => { for (const player of job.querySelectorAll(".player")) offer(player); };
  document.addEventListener("refreshed", look);
  look();
}

function offer(player) {
  if (offered.has(player)) return;
  offered.add(player);
  const shown = player.querySelector("video, audio, img");
  const source = player.querySelector("[src]");
  source.addEventListener("error", () => instead(player, shown, source.src));
  if (shown !== source) {
    shown.addEventListener("error", () => instead(player, shown, source.src));
    shown.load(); // it may have failed before anybody listened, or come with a refresh
  } else if (shown.complete && shown.naturalWidth === 0) {
    instead(player, shown, source.src);
  }
}

// instead says why nothing is shown: what the server says, where it gives no file. Of
// an input that this browser cannot play nothing is said: its download stands beside.
async function instead(player, shown, address) {
  shown.hidden = true;
  const words = player.querySelector(".unplayable");
  const answer = await fetch(address, { redirect: "manual" }).catch(() => null);
  const given = answer?.type === "opaqueredirect" || answer?.ok;
  player.hidden = given && player.id !== "player-out";
  words.hidden = false;
  if (given) return answer.body?.cancel(); // the file itself is not wanted
  const { detail = "The server does not answer." } = (await answer?.json().catch(() => null)) ?? {};
  words.firstElementChild.textContent = detail;
}
