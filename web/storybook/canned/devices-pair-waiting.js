import { makeCode } from "./pairing.js";
import { done } from "./sheets.js";

await makeCode({ expiresIn: 9.5 });
done();
