import { done, pick } from "./jobs-rows.js";

pick("queued", "succeeded");
done();
