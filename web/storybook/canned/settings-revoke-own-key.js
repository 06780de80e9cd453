import { click, done, opened } from "./sheets.js";

click("[data-sheet=revoke-key]");
await opened("revoke-key");
done();
