import { fieldProperty } from "./field-property.js";
import { readRawOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toInteger } from "./values/integer.js";
import { isFilled, toList, toTextList } from "./values/lists.js";
import { toMaskedMap } from "./values/maps.js";
import { hasFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";
import { toTrafficRules } from "./traffic-rules.js";

/** The shape of networks that clients of Xen Orchestra know; property names are part of the API. */
export const networkView: View = {
  className: "network",
  types: ["network"],
  typeOf: () => "network",
  build,
  reads: { PIF: ["bond_master_of"] },
  properties: {
    name_label: fieldProperty("name_label", toText),
    name_description: fieldProperty("name_description", toText),
    tags: fieldProperty("tags", toTextList),
    bridge: fieldProperty("bridge", toText),
    trafficRules: ({ record }) => toTrafficRules(record.other_config),
  },
  searched: ["id", "name_label", "name_description", "tags", "bridge"],
};

function build({ record, links }: ViewSource): ViewObject {
  const purpose = toTextList(record.purpose);
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    automatic: hasFlag(record.other_config, "automatic"),
    bridge: toText(record.bridge),
    current_operations: readRawOperations(record.current_operations),
    defaultIsLocked: record.default_locking_mode === "disabled",
    insecureNbd: purpose.includes("insecure_nbd"),
    isBonded: isBonded(record.PIFs, links),
    nbd: purpose.includes("nbd"),
    other_config: toMaskedMap(record.other_config),
    tags: toTextList(record.tags),
    PIFs: links.ids("PIF", record.PIFs),
    VIFs: links.ids("VIF", record.VIFs),
  };
  put(view, "MTU", toInteger(record.MTU));
  put(view, "trafficRules", toTrafficRules(record.other_config));
  return view;
}

/** Whether a PIF of the network is a bond, on any host. */
function isBonded(pifs: unknown, links: ViewLinks): boolean {
  return toList(pifs).some((ref) =>
    isFilled(links.record("PIF", ref)?.bond_master_of),
  );
}
