import { answer, click, done, opened } from "./sheets.js";

answer({ "POST /v1/gc": [200, { dry_run: true, outputs: { count: 1204, bytes: 84200000000 }, uploads: { count: 33, bytes: 912000000 }, open_uploads: { count: 2, bytes: 4100 }, logs: 18, events: 0, deliveries: 7 }] });
click("#look");
await opened("gc");
done();
