import { answer, click, done, opened, set, until } from "./sheets.js";

const { id } = document.querySelector("[data-name=studio-1]");
answer({ [`PATCH /v1/devices/${id}`]: [422, { detail: "The device was not changed.", errors: [{ location: "slots", message: "must be from 0 to 1000" }, { location: "tags[1]", message: "must be one word of letters, digits, '.', '_' and '-'" }] }] });
click(`#${id} [data-act=change]`);
await opened("change");
set("change-slots", "5000");
set("change-tags", "hdr #b");
click("#change-form .main");
await until(() => document.querySelectorAll("#change [aria-invalid]").length === 2);
done();
