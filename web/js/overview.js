// The page that is left open: time goes by in it also while nothing happens.
import { refresh } from "./live.js";

const every = 30000;

function goOn() {
  if (!document.hidden) refresh();
}

setInterval(goOn, every);
