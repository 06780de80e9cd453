import { makeCode } from "./pairing.js";
import { done } from "./sheets.js";

await makeCode({ url: "http://127.0.0.1:7420" });
done();
