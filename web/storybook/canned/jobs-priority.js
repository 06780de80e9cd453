import { click, done, every, opened, pick } from "./jobs-rows.js";

pick(...every);
click("[data-several=priority]");
await opened("priority-several");
done();
