import { choose, done, tick, until } from "./answers.js";

localStorage.clear();
choose(["cut off.mov", 1.4e9], ["slow one.mov", 620e6], ["waits.mov", 18.4e9]);
tick('[value="archive-hevc"]');
await until(() => document.querySelector(".tale").textContent.includes("Tries again"));
tick("#make");
done();
