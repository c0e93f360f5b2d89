import type { View, ViewObject, ViewSource } from "./view.js";
import { toMaskedMap } from "./values/maps.js";
import { toFlag } from "./values/plain.js";
import { put } from "./values/put.js";

/** The shape of PBDs that clients of Xen Orchestra know; property names are part of the API. */
export const pbdView: View = {
  className: "PBD",
  types: ["PBD"],
  typeOf: () => "PBD",
  build,
  reads: {},
  searched: ["id"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    attached: toFlag(record.currently_attached),
    device_config: toMaskedMap(record.device_config),
    otherConfig: toMaskedMap(record.other_config),
  };
  // Without the prefix `$` of other link fields: clients expect these names.
  put(view, "host", links.id("host", record.host));
  put(view, "SR", links.id("SR", record.SR));
  return view;
}
