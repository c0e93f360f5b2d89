import { isObject } from "@xo-server/kit";
import type { ObjectRow } from "../../api/object-row.js";
import type { Vm } from "../../objects/vm.js";

/** State of the guest tools; undefined: the VM does not run. */
type ToolsState =
  | { readonly messageKey: "none" | "agentOnly" }
  | { readonly messageKey: "installed" | "outdated"; readonly version: string };

/** @returns undefined: unknown, as the VM does not run */
export function toolsOf(vm: ObjectRow): ToolsState | undefined {
  const { power_state, pvDriversDetected, pvDriversVersion } = vm;
  if (power_state !== "Running" && power_state !== "Paused") return undefined;
  const version = typeof pvDriversVersion === "string" ? pvDriversVersion : "";
  if (pvDriversDetected === true)
    return {
      messageKey: vm["pvDriversUpToDate"] === false ? "outdated" : "installed",
      version,
    };
  return {
    messageKey: vm["managementAgentDetected"] === true ? "agentOnly" : "none",
  };
}

/** Prefix of custom fields in `other_config`, as XenCenter stores them. */
const PREFIX = "XenCenter.CustomFields.";

export interface CustomField {
  readonly name: string;
  readonly value: string;
}

/** Sorted by name. */
export function customFieldsOf(object: ObjectRow): CustomField[] {
  const other = object["other"] ?? object["other_config"];
  if (!isObject(other)) return [];
  return Object.entries(other)
    .filter(([key]) => key.startsWith(PREFIX))
    .map(([key, value]) => ({
      name: key.slice(PREFIX.length),
      value: String(value as string),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Addresses of one VIF. */
interface InterfaceAddresses {
  readonly device: string;
  readonly addresses: readonly string[];
}

/** Addresses by device; IPv4 before IPv6. */
export function addressesByDevice(
  vm: Pick<Vm, "addresses">,
): InterfaceAddresses[] {
  const devices = new Map<string, string[]>();
  for (const [key, address] of Object.entries(vm.addresses)) {
    const device = key.slice(0, key.indexOf("/"));
    devices.set(device, [...(devices.get(device) ?? []), address]);
  }
  return [...devices]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([device, addresses]) => ({ device, addresses }));
}
