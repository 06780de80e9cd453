import { choose, done, states, tick, until } from "./answers.js";

localStorage.clear();
choose(["interview.mov", 18.4e9], ["IMG_2201.MOV", 21e6], ["مقابلة مع المخرج.mov", 18.1e9]);
await until(() => states("ready") === 3);
tick("#make");
await until(() => document.querySelector("#made a"));
done();
