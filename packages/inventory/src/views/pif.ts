import type { XapiRecord } from "../store/record-rows.js";
import type { View, ViewObject, ViewSource } from "./view.js";
import { toInteger } from "./values/integer.js";
import { firstOf, isFilled, toTextList } from "./values/lists.js";
import { toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** XAPI's value for "no VLAN"; also used where an old pool does not report it. */
const NO_VLAN = -1;

/** The shape of PIFs that clients of Xen Orchestra know; property names are part of the API. */
export const pifView: View = {
  className: "PIF",
  types: ["PIF"],
  typeOf: () => "PIF",
  build,
  reads: {
    PIF_metrics: ["carrier", "device_name", "speed"],
    Bond: ["master", "slaves"],
  },
  searched: ["id", "device", "deviceName", "mac", "ip"],
};

function build(source: ViewSource): ViewObject {
  const { record, links } = source;
  const metrics = links.record("PIF_metrics", record.metrics);
  const view: ViewObject = {
    attached: toFlag(record.currently_attached),
    carrier: toFlag(metrics?.carrier),
    device: toText(record.device),
    deviceName: toText(metrics?.device_name),
    disallowUnplug: toFlag(record.disallow_unplug),
    mac: toText(record.MAC),
    management: toFlag(record.management),
    physical: toFlag(record.physical),
    vlan: toInteger(record.VLAN) ?? NO_VLAN,
  };
  put(view, "mtu", toInteger(record.MTU));
  put(view, "speed", toInteger(metrics?.speed)); // Mbit/s
  put(view, "$host", links.id("host", record.host));
  put(view, "$network", links.id("network", record.network));
  putAddresses(view, record);
  putBond(view, source);
  return view;
}

function putAddresses(view: ViewObject, record: XapiRecord): void {
  view.dns = toText(record.DNS);
  view.gateway = toText(record.gateway);
  view.ip = toText(record.IP);
  view.ipv6 = toTextList(record.IPv6);
  view.netmask = toText(record.netmask);
  view.mode = toText(record.ip_configuration_mode);
  view.ipv6Mode = toText(record.ipv6_configuration_mode);
  view.primaryAddressType = toText(record.primary_address_type);
}

/**
 * `bondMaster`: the bond that this interface is a member of; `bondSlaves`: the
 * members of this bond.
 */
function putBond(view: ViewObject, { record, links }: ViewSource): void {
  const above = links.record("Bond", record.bond_slave_of);
  const isMaster = isFilled(record.bond_master_of);
  view.isBondMaster = isMaster;
  view.isBondSlave = above !== undefined;
  if (above !== undefined)
    put(view, "bondMaster", links.id("PIF", above.master));
  if (!isMaster) return;
  const below = links.record("Bond", firstOf(record.bond_master_of));
  view.bondSlaves = links.ids("PIF", below?.slaves);
}
