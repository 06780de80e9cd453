import { choose, done, states, tick, until } from "./answers.js";

localStorage.clear();
choose(["interview.mov", 380000], ["IMG_2201.MOV", 210000], ["مقابلة مع المخرج.mov", 240000]);
await until(() => states("ready") === 3);
tick("#make");
await until(() => document.querySelector("#made a"));
done();
