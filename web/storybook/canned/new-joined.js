import { choose, done, states, tick, until } from "./answers.js";

localStorage.clear();
tick('[value="ffmpeg.concat"]');
choose(["intro.mov", 90000], ["talk.mov", 380000], ["credits.mov", 40000]);
await until(() => states("ready") === 3);
done();
