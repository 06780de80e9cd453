import { answer, click, done, idOf, opened, pick, until } from "./jobs-rows.js";

pick("queued", "active");
answer({
  [`POST /v1/jobs/${idOf("interview-web.mp4")}/cancel`]: [202, {}],
  [`POST /v1/jobs/${idOf("sheet.jpg")}/cancel`]: [409, { detail: "The job is already succeeded: there is nothing to cancel.", code: "job_terminal" }],
  [`POST /v1/jobs/${idOf("from-the-share.mov")}/cancel`]: [503, { detail: "The database could not be used just now; try again.", code: "store_unavailable" }],
  [`POST /v1/jobs/${idOf("again.mp4")}/cancel`]: [202, {}],
  [`POST /v1/jobs/${idOf("episode-3.mp4")}/cancel`]: [503, { detail: "The database could not be used just now; try again.", code: "store_unavailable" }],
});
click("[data-several=cancel]");
await opened("cancel-several");
click("#cancel-several .danger");
await until(() => !document.getElementById("outcome").hidden);
done();
