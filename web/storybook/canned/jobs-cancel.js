import { click, done, every, opened, pick } from "./jobs-rows.js";

pick(...every);
click("[data-several=cancel]");
await opened("cancel-several");
done();
