import { makeCode } from "./pairing.js";
import { done, until } from "./sheets.js";

await makeCode({ device: document.querySelector("[data-name=studio-1]").id });
document.dispatchEvent(new CustomEvent("refreshed"));
await until(() => !document.querySelector("[data-steps=online]").hidden);
done();
