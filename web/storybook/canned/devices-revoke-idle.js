import { click, done, opened } from "./sheets.js";

click("[data-name^='Mac mini in the machine room'] [data-act=revoke]");
await opened("revoke");
done();
