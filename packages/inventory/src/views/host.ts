import { fieldProperty } from "./field-property.js";
import type { XapiRecord } from "../store/record-rows.js";
import { needsReboot, readSupplementalPacks } from "./host-updates.js";
import { readRawOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { toSeconds, toWholeSeconds } from "./values/instant.js";
import { toInteger } from "./values/integer.js";
import { toList, toTextList } from "./values/lists.js";
import { toMaskedMap, toTextMap } from "./values/maps.js";
import {
  hasFlag,
  memberOf,
  toFlag,
  toNonEmptyText,
  toText,
} from "./values/plain.js";
import { put } from "./values/put.js";

const GIB = 2 ** 30;

/** The shape of hosts that clients of Xen Orchestra know; property names are part of the API. */
export const hostView: View = {
  className: "host",
  types: ["host"],
  typeOf: () => "host",
  build,
  reads: {
    host_metrics: ["live", "memory_total", "memory_free"],
    pool_update: [
      "name_label",
      "name_description",
      "version",
      "after_apply_guidance",
      "installation_size",
    ],
    Certificate: ["fingerprint", "not_after"],
  },
  properties: {
    name_label: fieldProperty("name_label", toText),
    name_description: fieldProperty("name_description", toText),
    tags: fieldProperty("tags", toTextList),
    pendingGuidances: ({ record }) => toTextList(record.pending_guidances),
    hostname: fieldProperty("hostname", toText),
    address: fieldProperty("address", toText),
    enabled: fieldProperty("enabled", toFlag),
    power_state: (source) => powerStateOf(readMetrics(source)),
    memory: (source) => toMemory(readMetrics(source)),
  },
  searched: [
    "id",
    "name_label",
    "name_description",
    "hostname",
    "address",
    "tags",
  ],
};

function build(source: ViewSource): ViewObject {
  const { record, links } = source;
  const metrics = readMetrics(source);
  const software = record.software_version;
  const other = record.other_config;
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    hostname: toText(record.hostname),
    address: toText(record.address),
    enabled: toFlag(record.enabled),
    power_state: powerStateOf(metrics),
    memory: toMemory(metrics),
    cpus: toCpus(record),
    CPUs: toTextMap(record.cpu_info),
    version: toText(memberOf(software, "product_version")),
    build: toText(memberOf(software, "build_number")),
    productBrand: toText(memberOf(software, "product_brand")),
    startTime: toWholeSeconds(memberOf(other, "boot_time")) ?? null,
    agentStartTime: toWholeSeconds(memberOf(other, "agent_start_time")) ?? null,
    rebootRequired: needsReboot(record),
    pendingGuidances: toTextList(record.pending_guidances),
    supplementalPacks: readSupplementalPacks(record, links),
    tags: toTextList(record.tags),
    otherConfig: toMaskedMap(other),
    current_operations: readRawOperations(record.current_operations),
    bios_strings: toTextMap(record.bios_strings),
    logging: toTextMap(record.logging),
  };
  putLicence(view, record);
  putHardware(view, record);
  putLinks(view, source);
  return view;
}

function putLicence(view: ViewObject, record: XapiRecord): void {
  const params = record.license_params;
  view.license_params = toMaskedMap(params);
  view.license_server = toMaskedMap(record.license_server);
  view.license_expiry = toSeconds(memberOf(params, "expiry")) ?? null;
  view.zstdSupported = memberOf(params, "restrict_zstd_export") === "false";
}

function putHardware(view: ViewObject, record: XapiRecord): void {
  const other = record.other_config;
  const chipset: ViewObject = {};
  const iommu = toNonEmptyText(memberOf(record.chipset_info, "iommu"));
  if (iommu !== undefined) chipset.iommu = iommu === "true";
  view.chipset_info = chipset;
  view.hvmCapable = isHvmCapable(record.capabilities);
  // Before 7.5 these two were in other_config.
  view.iscsiIqn = toText(record.iscsi_iqn ?? memberOf(other, "iscsi_iqn"));
  view.multipathing =
    typeof record.multipathing === "boolean"
      ? record.multipathing
      : hasFlag(other, "multipathing");
  view.powerOnMode = toText(record.power_on_mode);
}

function putLinks(view: ViewObject, { record, links }: ViewSource): void {
  put(view, "controlDomain", links.id("VM", record.control_domain));
  view.residentVms = links.ids("VM", record.resident_VMs);
  view.patches = links.ids("host_patch", record.patches);
  view.certificates = toCertificates(record.certificates, links);
  view.PIFs = view.$PIFs = links.ids("PIF", record.PIFs);
  view.PCIs = view.$PCIs = links.ids("PCI", record.PCIs);
  view.PGPUs = view.$PGPUs = links.ids("PGPU", record.PGPUs);
  view.$PBDs = links.ids("PBD", record.PBDs);
}

function readMetrics({ record, links }: ViewSource): XapiRecord | undefined {
  return links.record("host_metrics", record.metrics);
}

function powerStateOf(metrics: XapiRecord | undefined): string {
  if (metrics === undefined) return "Unknown";
  return metrics.live === true ? "Running" : "Halted";
}

/**
 * In bytes. The total excludes the memory of the hypervisor; rounding up to
 * whole GiB yields the memory of the machine.
 */
function toMemory(metrics: XapiRecord | undefined): ViewObject {
  const total = toInteger(metrics?.memory_total) ?? 0;
  const free = toInteger(metrics?.memory_free) ?? 0;
  const size = Math.ceil(total / GIB) * GIB;
  const isLive = metrics?.live === true;
  return { usage: isLive ? Math.max(size - free, 0) : 0, size };
}

function toCpus({ cpu_info }: XapiRecord): ViewObject {
  const cpus: ViewObject = {};
  put(cpus, "cores", toInteger(memberOf(cpu_info, "cpu_count")));
  put(cpus, "sockets", toInteger(memberOf(cpu_info, "socket_count")));
  return cpus;
}

/** Capabilities are strings like `hvm-3.0-x86_64`. */
function isHvmCapable(capabilities: unknown): boolean {
  return toTextList(capabilities).some((name) => name.startsWith("hvm"));
}

function toCertificates(refs: unknown, links: ViewLinks): ViewObject[] {
  const certificates: ViewObject[] = [];
  for (const ref of toList(refs)) {
    const record = links.record("Certificate", ref);
    if (record === undefined) continue;
    const certificate: ViewObject = { fingerprint: toText(record.fingerprint) };
    put(certificate, "notAfter", toSeconds(record.not_after));
    certificates.push(certificate);
  }
  return certificates;
}
