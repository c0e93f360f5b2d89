import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";
import { readJson } from "./values/xo-json.js";

/** Digits of the uuid under which clients keep what they know of this very VM: a copy has another uuid. */
const OWN_KEY_LENGTH = 8;

/** What clients and operators have written down about a VM, in its other_config. */
export function putClientMetadata(view: ViewObject, record: XapiRecord): void {
  const other = record.other_config;
  put(view, "notes", toNonEmptyText(memberOf(other, "xo:notes")));
  put(view, "creation", toCreation(record));
  put(view, "resourceSet", toNonEmptyText(readJson(other, "xo:resource_set")));
  const monitor = memberOf(other, "xscontainer-monitor");
  if (typeof monitor === "string")
    view.docker = { enabled: monitor.toLowerCase() === "true" };
}

/** Addresses of PCI devices that the VM gets (`0000:04:00.0`, as in PCI.pci_id); undefined unless set. */
export function toNestedPcis(otherConfig: unknown): string[] | undefined {
  const text = toNonEmptyText(memberOf(otherConfig, "pci"));
  // "0/0000:04:00.0,0/0000:05:00.0": each after its place on the guest's bus.
  return text
    ?.split(",", 1024)
    .map((pci) => pci.slice(pci.indexOf("/") + 1).trim())
    .filter((address) => address !== "");
}

/** When, by whom and from which template it was made. */
function toCreation(record: XapiRecord): ViewObject | undefined {
  const uuid = toText(record.uuid);
  const own = readJson(
    record.other_config,
    `xo:${uuid.slice(0, OWN_KEY_LENGTH)}`,
  );
  const recorded = memberOf(own, "creation");
  if (recorded === undefined || recorded === null) return undefined;
  const creation: ViewObject = {};
  put(creation, "date", toNonEmptyText(memberOf(recorded, "date")));
  put(creation, "template", toNonEmptyText(memberOf(recorded, "template")));
  put(creation, "user", toNonEmptyText(memberOf(recorded, "user")));
  return Object.keys(creation).length === 0 ? undefined : creation;
}
