import { Memory } from "/assets/js/memory.js";
import { done } from "./answers.js";

localStorage.clear();
const memory = new Memory("acc_01");
for (const name of ["interview.mov", "2026-11-28_acme_spring-campaign_director's-cut_v14_FINAL_really-final_graded.mov", "مقابلة مع المخرج.mov", "talk.mov"]) {
  memory.keep({ name, size: 1, lastModified: 1 }, "upl_1");
}
document.getElementById("remembered").textContent = memory.said();
localStorage.clear();
done();
