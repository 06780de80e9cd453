// How large the results will be beside the files, by what a preset takes: a pixel,
// and a second. It can be off by half, and so it is said in round numbers.
const shares = [[0.75, "2/3"], [0.58, "half"], [0.41, "1/3"], [0.29, "1/4"], [0.22, "1/5"], [0.18, "1/6"], [0.145, "1/8"], [0.11, "1/10"], [0.085, "1/15"], [0.06, "1/20"], [0.04, "1/30"], [0.027, "1/50"], [0.014, "1/100"]];

// showReckoned says it beside each preset that can be reckoned. uploads are those
// that the server has read.
export function showReckoned(offer, uploads) {
  const films = uploads.filter(({ done }) => done.media?.duration_s > 0);
  const are = films.reduce((sum, { file }) => sum + file.size, 0);
  for (const radio of offer.querySelectorAll(".preset input")) {
    const become = films.reduce((sum, { done }) => sum + bytesOf(done.media, radio.dataset), 0);
    const said = radio.parentElement.querySelector("[data-reckoned]");
    said.textContent = are > 0 && become > 0 ? `, ${sizeOf(become / are)}` : said.dataset.else;
  }
}

// bytesOf is NaN where nothing is known of the preset.
function bytesOf(media, { params, perPixel, perSecond }) {
  const film = media.streams.find((s) => s.kind === "video" && !s.attached_pic);
  const wanted = JSON.parse(params);
  const picture = film ? perPixel * pixels(film, wanted) * (wanted.fps || film.fps || 25) : 0;
  return (picture + Number(perSecond)) * media.duration_s / 8;
}

// pixels are those of a result: a box turns with the picture, and enlarges none.
function pixels({ width, height }, { width: w = Infinity, height: h = Infinity, fit }) {
  if (fit === "stretch" && Number.isFinite(w * h)) return w * h;
  if (fit === "cover") return w * h * Math.min(1, width / w, height / h) ** 2;
  if (Number.isFinite(w * h) && (width - height) * (w - h) < 0) [w, h] = [h, w];
  return width * height * Math.min(1, w / width, h / height) ** 2;
}

function sizeOf(share) {
  if (share >= 1.25) return `about ${share < 10 ? Number(share.toFixed(share < 2 ? 1 : 0)) : Math.round(share / 5) * 5} × the size`;
  if (share >= 0.8) return "about the same size";
  if (share < 0.007) return "under 1/100 the size";
  return `about ${shares.findLast(([upTo]) => share <= upTo)?.[1] || "3/4"} the size`;
}
