import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";
import { readJson } from "./values/xo-json.js";

/**
 * Digits of the UUID in the key under which clients store data of this VM: a
 * copy of the VM has another UUID, so that the data does not apply to it.
 */
const OWN_KEY_LENGTH = 8;

/** Adds metadata that clients store in other_config. */
export function putClientMetadata(view: ViewObject, record: XapiRecord): void {
  const other = record.other_config;
  put(view, "notes", toNonEmptyText(memberOf(other, "xo:notes")));
  put(view, "creation", toCreation(record));
  put(view, "resourceSet", toResourceSet(record));
  put(view, "folder", toFolder(record));
  const monitor = memberOf(other, "xscontainer-monitor");
  if (typeof monitor === "string")
    view.docker = { enabled: monitor.toLowerCase() === "true" };
}

/** Path of the folder, such as `/Production/Web`, as XenCenter stores it. */
export function toFolder(record: XapiRecord): string | undefined {
  return toNonEmptyText(memberOf(record.other_config, "folder"));
}

/** Id of the resource set that the VM belongs to. */
export function toResourceSet(record: XapiRecord): string | undefined {
  return toNonEmptyText(readJson(record.other_config, "xo:resource_set"));
}

/**
 * Addresses of PCI devices passed through to the VM (`0000:04:00.0`, as in
 * PCI.pci_id); undefined unless set.
 */
export function toNestedPcis(otherConfig: unknown): string[] | undefined {
  const text = toNonEmptyText(memberOf(otherConfig, "pci"));
  // "0/0000:04:00.0,0/0000:05:00.0": each is prefixed with its slot on the
  // guest's bus.
  return text
    ?.split(",", 1024)
    .map((pci) => pci.slice(pci.indexOf("/") + 1).trim())
    .filter((address) => address !== "");
}

/**
 * Date, user and template of the VM's creation, as stored by the client that
 * created it.
 */
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
