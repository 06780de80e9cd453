import { choose, done, routes, set, states, tick, until } from "./answers.js";

localStorage.clear();
routes.jobs = () => [422, {
  detail: "The request was not taken; mend what is listed and send it again.",
  errors: [
    { location: "jobs[0].params.container", message: "mp4 cannot hold prores; take mov" },
    { location: "jobs[0].params.width", message: "must be from 2 to 16384" },
    { location: "jobs[0].webhook_url", message: "must be an http or https URL" },
    { location: "jobs[0].inputs[0].upload_id", message: "was deleted by retention; upload it again" },
  ],
}];
choose(["interview.mov", 18.4e9]);
set("params.video_codec", "prores");
set("params.container", "mp4");
set("params.width", "1");
set("webhook_url", "ftp://example.test");
await until(() => states("ready") === 1);
tick("#make");
await until(() => document.querySelector("[aria-invalid]"));
done();
