// Downloads of a selection.
import { address, bytes, failure, json } from "./api.js";
import { h, replace } from "./dom.js";
import { plural, size } from "./format.js";

/** Larger files are saved by the browser as they arrive; errors of smaller ones are shown here. */
const HELD = 512 * 2 ** 20;
const FORMS = [["nc4", "netCDF-4"], ["nc3", "netCDF-3"], ["csv", "CSV"], ["zarr", "Zarr (zip)"]];

/** `parts` returns the selections that are offered: a text and the selection. */
export function downloads({ path, shown }, parts, extra) {
  const state = h("div", { class: "state", role: "status" });
  const what = h("select", { id: "part" });
  const form = h("select", { id: "form" }, FORMS.map(([value, label]) => h("option", { value }, label)));
  const offer = () => {
    const kept = what.selectedIndex;
    replace(what, parts().map(([label, select]) => h("option", { value: select }, label)));
    what.selectedIndex = Math.max(0, kept);
  };
  offer();
  const start = async (more) => {
    offer();
    const query = { path, var: shown.path, select: what.value };
    replace(state, h("p", { class: "dim" }, "Planning…"));
    try {
      const cost = await json("cost", { ...query, ...more });
      const wanted = { ...query, form: form.value, ...more };
      const { result_bytes: result, requests, bytes: fetched } = cost.plan;
      const told = `${size(result)} of values in ${plural(requests, "request")} of ${size(fetched)}`;
      replace(state, h("p", { class: "dim" }, `Reading ${told}…`));
      if (result === null || result > HELD) {
        save(address("download", wanted), "");
        replace(state, h("p", { class: "dim" }, `The browser saves the file: ${told}.`));
        return;
      }
      const file = URL.createObjectURL(new Blob([await bytes("download", wanted)]));
      const ending = { nc3: "nc", nc4: "nc", csv: "csv", zarr: "zarr.zip" }[form.value];
      save(file, `${shown.name}.${ending}`);
      setTimeout(() => URL.revokeObjectURL(file), 60_000);
      replace(state, h("p", { class: "dim" }, `Saved ${shown.name}.${ending}: ${told}.`));
    } catch (error) {
      replace(state, failure(error, start));
    }
  };
  const element = h("section", { class: "block" }, h("h2", {}, "Save"),
    h("div", { class: "row" }, h("label", { for: "part" }, "Part"), what),
    h("div", { class: "row" }, h("label", { for: "form" }, "As"), form, h("button", { type: "button", onclick: () => start() }, "Save data")),
    extra, state);
  return { element, offer };
}

/** A selection as text, from one part for each dimension: an index, or a first index and the one after the last. */
export const selection = (parts) => `[${parts.map((part) => (Array.isArray(part) ? `${part[0]}:${part[1]}` : part)).join(",")}]`;

function save(href, name) {
  h("a", { href, download: name || true }).click();
}
