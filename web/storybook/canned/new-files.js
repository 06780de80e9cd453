import { choose, done, set, states, tick, until } from "./answers.js";

localStorage.clear();
choose(
  ["interview.mov", 18.4e9], ["IMG_2201.MOV", 21e6], ["old recording.mkv", 1.2e9],
  ["2026-11-28_acme_spring-campaign_director's-cut_v14_FINAL_really-final_graded_with-captions_for-broadcast_de-CH.mov", 17.9e9],
  ["مقابلة مع المخرج.mov", 18.1e9], ["full disk.mov", 940e6], ["huge.mov", 2.4e12], ["nothing.mov", 0], ["slow one.mov", 620e6], ["slow two.mov", 1.28e9], ["waits.mov", 700e6],
);
tick('[value="web-1080p"]');
set("labels", "client=acme\nday=it's 3");
await until(() => states("ready") === 5 && states("failed") === 3 && states("uploading") === 2);
await until(() => [...document.querySelectorAll("[data-state=uploading] .tale")].every(({ textContent }) => /^[24]/.test(textContent)));
done();
