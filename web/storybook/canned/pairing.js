// A pairing code, and what becomes of it.
import { answer, click, opened, set, until } from "./sheets.js";

export async function makeCode({ name = "", device = "dev_new", expiresIn = 10, url = "https://render.studio.example" } = {}) {
  answer({
    "POST /v1/pairings": [201, {
      code: "K7QD-2MXP", device_id: device, command: `rendermac pair ${url} K7QD-2MXP`,
      expires_at: new Date(Date.now() + expiresIn * 60000).toISOString(),
    }],
  });
  click("[data-pair]");
  await opened("pair");
  set("pair-name", name);
  click("#pair-form .main");
  await until(() => document.getElementById("pair-code").textContent);
}

export function arrive(device, name) {
  document.dispatchEvent(new CustomEvent("rendermac", { detail: { type: "device.paired", device_id: device, data: { name } } }));
}
