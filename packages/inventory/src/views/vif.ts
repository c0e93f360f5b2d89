import { fieldProperty } from "./field-property.js";
import type { XapiRecord } from "../store/record-rows.js";
import type { View, ViewObject, ViewSource } from "./view.js";
import { toInteger, toNumber } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { toMaskedMap } from "./values/maps.js";
import { memberOf, toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";
import { toTrafficRules } from "./traffic-rules.js";

/** The shape of VIFs that clients of Xen Orchestra know; property names are part of the API. */
export const vifView: View = {
  className: "VIF",
  types: ["VIF"],
  typeOf: () => "VIF",
  build,
  reads: {},
  properties: {
    attached: fieldProperty("currently_attached", toFlag),
    device: fieldProperty("device", toText),
    MAC: fieldProperty("MAC", toText),
    $network: ({ record, links }) => links.id("network", record.network),
    $VM: ({ record, links }) => links.id("VM", record.VM),
    trafficRules: ({ record }) => toTrafficRules(record.other_config),
  },
  searched: ["id", "MAC", "allowedIpv4Addresses", "allowedIpv6Addresses"],
};

function build({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    allowedIpv4Addresses: toTextList(record.ipv4_allowed),
    allowedIpv6Addresses: toTextList(record.ipv6_allowed),
    attached: toFlag(record.currently_attached),
    device: toText(record.device),
    lockingMode: toText(record.locking_mode),
    MAC: toText(record.MAC),
    other_config: toMaskedMap(record.other_config),
    txChecksumming: isChecksumming(record.other_config),
  };
  put(view, "MTU", toInteger(record.MTU));
  put(view, "rateLimit", toRateLimit(record));
  put(view, "trafficRules", toTrafficRules(record.other_config));
  put(view, "$network", links.id("network", record.network));
  put(view, "$VM", links.id("VM", record.VM));
  return view;
}

/** Enabled unless explicitly disabled. */
function isChecksumming(otherConfig: unknown): boolean {
  const setting = memberOf(otherConfig, "ethtool-tx");
  return setting !== "false" && setting !== "off";
}

/** kB/s; undefined for no limit. */
function toRateLimit(record: XapiRecord): number | undefined {
  if (record.qos_algorithm_type !== "ratelimit") return undefined;
  return toNumber(memberOf(record.qos_algorithm_params, "kbps"));
}
