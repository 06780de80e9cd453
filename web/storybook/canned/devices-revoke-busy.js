import { click, done, opened } from "./sheets.js";

click("[data-name=studio-1] [data-act=revoke]");
await opened("revoke");
done();
