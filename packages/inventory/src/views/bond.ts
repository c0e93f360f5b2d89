import type { View, ViewObject, ViewSource } from "./view.js";
import { toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** The shape of bonds that clients of Xen Orchestra know; property names are part of the API. */
export const bondView: View = {
  className: "Bond",
  types: ["bond"],
  typeOf: () => "bond",
  build,
  reads: {},
  searched: ["id"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = { mode: toText(record.mode) };
  put(view, "master", links.id("PIF", record.master));
  return view;
}
