import type { View, ViewObject, ViewSource } from "./view.js";
import { put } from "./values/put.js";

/** CONTRACT 3.8. What it holds is the VM's secret: only whose it is shows. */
export const vtpmView: View = {
  className: "VTPM",
  types: ["VTPM"],
  typeOf: () => "VTPM",
  build,
  reads: {},
  columns: ["id", "$pool", "vm"],
  searched: ["id"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {};
  put(view, "vm", links.id("VM", record.VM));
  return view;
}
