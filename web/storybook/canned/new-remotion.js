import { choose, done, set, states, tick, until } from "./answers.js";

localStorage.clear();
tick('[value="remotion.render"]');
choose(["bundle.zip", 38e6], ["interview.mov", 18.4e9]);
set("params.composition", "Main");
await until(() => states("ready") === 2);
for (const more of document.querySelectorAll("details.more")) more.open = true;
done();
