import { answer, click, done, opened } from "./sheets.js";

const nothing = { count: 0, bytes: 0 };
answer({ "POST /v1/gc": [200, { dry_run: true, outputs: nothing, uploads: nothing, open_uploads: nothing, logs: 0, events: 0, deliveries: 0 }] });
click("#look");
await opened("gc");
done();
