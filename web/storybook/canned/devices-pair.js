import { click, done, opened } from "./sheets.js";

click("[data-pair]");
await opened("pair");
done();
