import { choose, done, set, states, tick, until } from "./answers.js";

localStorage.clear();
choose(
  ["interview.mov", 380000], ["IMG_2201.MOV", 210000], ["old recording.mkv", 99000],
  ["2026-11-28_acme_spring-campaign_director's-cut_v14_FINAL_really-final_graded_with-captions_for-broadcast_de-CH.mov", 350000],
  ["مقابلة مع المخرج.mov", 240000], ["full disk.mov", 100], ["huge.mov", 100], ["nothing.mov", 0], ["slow one.mov", 1e6], ["slow two.mov", 2e6], ["waits.mov", 700000],
);
tick('[value="web-1080p"]');
set("labels", "client=acme\nday=it's 3");
await until(() => states("ready") === 5 && states("failed") === 3 && states("uploading") === 2);
await until(() => [...document.querySelectorAll("[data-state=uploading] .tale")].every(({ textContent }) => /^[24]/.test(textContent)));
done();
