import type { View, ViewObject, ViewSource } from "./view.js";
import { put } from "./values/put.js";

/** Only the link to the VM: the content of a VTPM is secret. */
export const vtpmView: View = {
  className: "VTPM",
  types: ["VTPM"],
  typeOf: () => "VTPM",
  build,
  reads: {},
  searched: ["id"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {};
  put(view, "vm", links.id("VM", record.VM));
  return view;
}
