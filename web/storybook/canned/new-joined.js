import { choose, done, states, tick, until } from "./answers.js";

localStorage.clear();
tick('[value="ffmpeg.concat"]');
choose(["intro.mov", 1.1e9], ["talk.mov", 18.4e9], ["credits.mov", 640e6]);
await until(() => states("ready") === 3);
done();
