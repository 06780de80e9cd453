// Which service and preset are chosen, and how the form shows it.
const form = document.getElementById("new");

// chosen is the service: its name, how many files it takes, its part of the form.
export function chosen() {
  const { value: name, dataset } = form.querySelector("[name=service]:checked");
  const offer = form.querySelector(`.offer[data-service="${CSS.escape(name)}"]`);
  return { name, offer, min: Number(dataset.min), max: Number(dataset.max), joins: Number(dataset.max) > 1, archive: dataset.archive };
}

// preset is its name, "" without one, and its params.
export function preset({ offer } = chosen()) {
  const radio = offer.querySelector(".preset input:checked");
  return { name: radio?.value || "", params: radio ? JSON.parse(radio.dataset.params) : {} };
}

// showChoice lets the chosen service's part of the form be seen and sent, and says
// in each field what holds where it is left empty.
export function showChoice() {
  const service = chosen();
  for (const offer of form.querySelectorAll(".offer")) offer.hidden = offer.disabled = offer !== service.offer;
  const { name, params } = preset(service);
  for (const field of fieldsOf(service)) showDefault(field, params[field.name], name);
}

// fieldsOf are the params that the form asks for.
export function fieldsOf({ offer }) {
  return [...offer.querySelectorAll("[data-kind]")].map((element) => {
    const input = element.querySelector("input, select, textarea");
    return { input, name: input.name.replace("params.", ""), kind: element.dataset.kind, fallback: element.dataset.default };
  });
}

function showDefault({ input, kind, fallback }, fromPreset, preset) {
  const is = fromPreset !== undefined;
  if (kind === "choice") input.options[0].text = is ? `${fromPreset} (${preset})` : fallback ? `${fallback} (default)` : "not said";
  else if (kind !== "yes") input.placeholder = is ? (kind === "json" ? JSON.stringify(fromPreset) : fromPreset) : fallback;
  else if (!input.dataset.touched) input.checked = is ? fromPreset : fallback === "true";
}
