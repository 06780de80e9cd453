import { click, done, opened } from "./settings-answers.js";

click("[data-sheet=revoke-key]");
await opened("revoke-key");
done();
