import { arrive, makeCode } from "./pairing.js";
import { done } from "./sheets.js";

const name = "استوديو التحرير ٢";
await makeCode({ name });
arrive("dev_new", name);
done();
