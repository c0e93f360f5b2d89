import type { XapiRecord } from "../store/record-rows.js";
import { readRawOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toInteger } from "./values/integer.js";
import { toList, toTextList } from "./values/lists.js";
import { toMaskedMap } from "./values/maps.js";
import {
  hasFlag,
  memberOf,
  toFlag,
  toNonEmptyText,
  toText,
} from "./values/plain.js";
import { put } from "./values/put.js";

/** The shape of pools that clients of Xen Orchestra know; property names are part of the API. */
export const poolView: View = {
  className: "pool",
  types: ["pool"],
  typeOf: () => "pool",
  build,
  reads: { host: ["name_label", "software_version"], VDI: ["SR"] },
  searched: ["id", "name_label", "name_description", "tags"],
};

function build({ record, links }: ViewSource): ViewObject {
  const master = links.record("host", record.master);
  const view: ViewObject = {
    // A pool of one host usually has no name.
    name_label: toNonEmptyText(record.name_label) ?? toText(master?.name_label),
    name_description: toText(record.name_description),
    tags: toTextList(record.tags),
    HA_enabled: toFlag(record.ha_enabled),
    haSrs: toHaSrs(record.ha_statefiles, links),
    haRebootVmOnInternalShutdown:
      record.ha_reboot_vm_on_internal_shutdown !== false,
    auto_poweron: hasFlag(record.other_config, "auto_poweron"),
    cpus: toCpus(record),
    current_operations: readRawOperations(record.current_operations),
    migrationCompression: toFlag(record.migration_compression),
    otherConfig: toMaskedMap(record.other_config),
    vtpmSupported: isAllowed(record.restrictions, "restrict_vtpm"),
    zstdSupported: isAllowed(record.restrictions, "restrict_zstd_export"),
  };
  put(view, "master", links.id("host", record.master));
  put(view, "default_SR", links.id("SR", record.default_SR));
  put(view, "crashDumpSr", links.id("SR", record.crash_dump_SR));
  put(view, "suspendSr", links.id("SR", record.suspend_image_SR));
  put(view, "platform_version", toPlatformVersion(master));
  return view;
}

/** A feature is available only if its restriction is explicitly "false". */
function isAllowed(restrictions: unknown, name: string): boolean {
  return memberOf(restrictions, name) === "false";
}

function toCpus({ cpu_info }: XapiRecord): ViewObject {
  const cpus: ViewObject = {};
  put(cpus, "cores", toInteger(memberOf(cpu_info, "cpu_count")));
  put(cpus, "sockets", toInteger(memberOf(cpu_info, "socket_count")));
  return cpus;
}

/** Storage repositories of the HA state files. */
function toHaSrs(statefiles: unknown, links: ViewLinks): string[] {
  const srs = new Set<string>();
  for (const ref of toList(statefiles)) {
    const sr = links.id("SR", links.record("VDI", ref)?.SR);
    if (sr !== undefined) srs.add(sr);
  }
  return [...srs];
}

function toPlatformVersion(master: XapiRecord | undefined): string | undefined {
  return toNonEmptyText(memberOf(master?.software_version, "platform_version"));
}
