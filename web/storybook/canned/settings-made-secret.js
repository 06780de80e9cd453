import { answer, click, done, opened } from "./sheets.js";

const row = document.querySelectorAll("#accounts tbody tr")[1].dataset;
answer({ [`POST /v1/accounts/${row.id}/webhook-secret`]: [201, { id: row.id, name: row.name, webhook_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }] });
click(`[data-id="${row.id}"] [data-sheet=replace-secret]`);
await opened("replace-secret");
click("#replace-secret .main");
await opened("made-secret");
done();
