import { isObject } from "@xo-server/kit";
import type { ObjectRow } from "../../api/object-row.js";
import type { Vm } from "../../objects/vm.js";

/** What a VM's guest says of its tools; undefined: it does not run, so nothing is known. */
export type ToolsState =
  | { readonly word: "none" | "agentOnly" }
  | { readonly word: "installed" | "outdated"; readonly version: string };

export function toolsOf(vm: ObjectRow): ToolsState | undefined {
  const { power_state, pvDriversDetected, pvDriversVersion } = vm;
  if (power_state !== "Running" && power_state !== "Paused") return undefined;
  const version = typeof pvDriversVersion === "string" ? pvDriversVersion : "";
  if (pvDriversDetected === true)
    return {
      word: vm["pvDriversUpToDate"] === false ? "outdated" : "installed",
      version,
    };
  return {
    word: vm["managementAgentDetected"] === true ? "agentOnly" : "none",
  };
}

/** Where XenCenter, and so everybody else, keeps fields that people give objects. */
const PREFIX = "XenCenter.CustomFields.";

export interface CustomField {
  readonly name: string;
  readonly value: string;
}

/** By name. */
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

/** Addresses of one interface of a VM. */
export interface InterfaceAddresses {
  readonly device: string;
  readonly addresses: readonly string[];
}

/** In the order of interfaces; version 4 before 6. */
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
