import { click, done, every, opened, pick } from "./jobs-rows.js";

pick(...every);
click("[data-several=retry]");
await opened("retry-several");
done();
