import type { XapiRecord } from "../store/record-rows.js";
import { fieldProperty, linkedField } from "./field-property.js";
import { readAddresses, readMainAddress } from "./guest-addresses.js";
import {
  isAgentDetected,
  putTools,
  readToolsVersion,
  type ToolsVersion,
} from "./guest-tools.js";
import { localHostOfDisks } from "./local-host.js";
import { readOperations } from "./operations.js";
import type { View, ViewLinks, ViewObject, ViewSource } from "./view.js";
import { putPlatform, putScheduling } from "./vm-platform.js";
import {
  putClientMetadata,
  toFolder,
  toNestedPcis,
  toResourceSet,
} from "./vm-notes.js";
import { isDefaultTemplate, putTemplate } from "./vm-template.js";
import { isFirmwareSupported } from "./vm-firmware.js";
import { toSeconds } from "./values/instant.js";
import { toInteger } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { toMaskedMap, toTextMap, type TextMap } from "./values/maps.js";
import {
  hasFlag,
  memberOf,
  toFlag,
  toNonEmptyText,
  toText,
} from "./values/plain.js";
import { put } from "./values/put.js";

const SNAPSHOT = "VM-snapshot";
const TEMPLATE = "VM-template";
const GUEST_METRICS = {
  field: "guest_metrics",
  className: "VM_guest_metrics",
};
const METRICS = { field: "metrics", className: "VM_metrics" };

/** The shape of VMs, templates, snapshots and control domains that clients of Xen Orchestra know; property names are part of the API. */
export const vmView: View = {
  className: "VM",
  types: ["VM", TEMPLATE, SNAPSHOT, "VM-controller"],
  typeOf,
  idOf,
  build,
  reads: {
    VM_guest_metrics: [
      "PV_drivers_version",
      "PV_drivers_detected",
      "PV_drivers_up_to_date",
      "other",
      "memory",
      "networks",
      "os_version",
    ],
    VM_metrics: ["start_time", "install_time", "VCPUs_number", "memory_actual"],
    VBD: ["type", "VDI"],
    VDI: ["SR"],
    SR: ["shared", "PBDs"],
    PBD: ["host"],
  },
  properties: {
    name_label: fieldProperty("name_label", toText),
    name_description: fieldProperty("name_description", toText),
    power_state: fieldProperty("power_state", toText),
    tags: fieldProperty("tags", toTextList),
    pendingGuidances: ({ record }) => toTextList(record.pending_guidances),
    high_availability: fieldProperty("ha_restart_priority", toText),
    blockedOperations: ({ record }) => toTextMap(record.blocked_operations),
    auto_poweron: ({ record }) => hasFlag(record.other_config, "auto_poweron"),
    resourceSet: ({ record }) => toResourceSet(record),
    folder: ({ record }) => toFolder(record),
    CPUs: (source) => toCpus(source.record, readGuest(source)),
    "CPUs.max": fieldProperty("VCPUs_max", toInteger),
    memory: (source) => toMemory(source.record, readGuest(source)),
    "memory.size": fieldProperty(
      [
        "power_state",
        "memory_dynamic_max",
        linkedField(GUEST_METRICS, "memory"),
        linkedField(METRICS, "memory_actual"),
      ],
      readMemorySize,
    ),
    addresses: fieldProperty(
      linkedField(GUEST_METRICS, "networks"),
      readAddresses,
    ),
    mainIpAddress: fieldProperty(
      linkedField(GUEST_METRICS, "networks"),
      readMainAddress,
    ),
    os_version: (source) => toOsVersion(guestOf(source)),
    "os_version.name": fieldProperty(
      linkedField(GUEST_METRICS, "os_version"),
      readOsName,
    ),
    managementAgentDetected: (source) => readAgentDetected(readGuest(source)),
    startTime: fieldProperty(linkedField(METRICS, "start_time"), toSeconds),
    installTime: fieldProperty(linkedField(METRICS, "install_time"), toSeconds),
    $container: (source) =>
      containerOf(source, isUp(source.record.power_state)),
    isDefaultTemplate: ({ record }) =>
      typeOf(record) === TEMPLATE ? isDefaultTemplate(record) : undefined,
    snapshot_time: ({ record }) =>
      typeOf(record) === SNAPSHOT ? toSeconds(record.snapshot_time) : undefined,
    $snapshot_of: ({ record, links }) =>
      typeOf(record) === SNAPSHOT
        ? links.id("VM", record.snapshot_of)
        : undefined,
  },
  searched: [
    "id",
    "name_label",
    "name_description",
    "tags",
    // With the main address.
    "addresses",
    "os_version.name",
  ],
};

/** Snapshots are checked before templates: in XAPI they have is_a_template, too. */
function typeOf(record: XapiRecord): string {
  if (record.is_control_domain === true) return "VM-controller";
  if (record.is_a_snapshot === true || isSet(record.snapshot_of))
    return SNAPSHOT;
  return record.is_a_template === true ? TEMPLATE : "VM";
}

/**
 * Default templates have the same UUID in every pool, so their id is prefixed
 * with the pool's.
 */
function idOf({ record, links }: ViewSource): string | undefined {
  const uuid = toNonEmptyText(record.uuid);
  if (uuid === undefined || typeOf(record) !== TEMPLATE) return uuid;
  if (!isDefaultTemplate(record)) return uuid;
  return links.poolId === undefined ? undefined : `${links.poolId}-${uuid}`;
}

function isSet(ref: unknown): boolean {
  return typeof ref === "string" && ref !== "" && ref !== "OpaqueRef:NULL";
}

/** Values that several fields depend on. */
interface Guest {
  readonly type: string;
  readonly isRunning: boolean;
  readonly metrics: XapiRecord | undefined;
  readonly guest: XapiRecord | undefined;
  readonly tools: ToolsVersion | false;
}

function build(source: ViewSource): ViewObject {
  const { record, links } = source;
  const state = readGuest(source);
  const { type, isRunning, metrics, guest } = state;
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    power_state: toText(record.power_state),
    tags: toTextList(record.tags),
    CPUs: toCpus(record, state),
    memory: toMemory(record, state),
    addresses: readAddresses(guest?.networks),
    os_version: toOsVersion(guest),
    auto_poweron: hasFlag(record.other_config, "auto_poweron"),
    bios_strings: toTextMap(record.bios_strings),
    blockedOperations: toTextMap(record.blocked_operations),
    boot: toTextMap(record.HVM_boot_params),
    current_operations: readOperations(record.current_operations, links),
    hasVendorDevice: toFlag(record.has_vendor_device),
    high_availability: toText(record.ha_restart_priority),
    isFirmwareSupported: isFirmwareSupported(record),
    other: toMaskedMap(record.other_config),
    pendingGuidances: toTextList(record.pending_guidances),
    startDelay: toInteger(record.start_delay) ?? 0,
    xenStoreData: toMaskedMap(record.xenstore_data),
  };
  putLinks(view, source);
  put(view, "$container", containerOf(source, isRunning));
  put(view, "mainIpAddress", readMainAddress(guest?.networks));
  put(view, "startTime", toSeconds(metrics?.start_time));
  put(view, "installTime", toSeconds(metrics?.install_time));
  if (isRunning) putRunning(view, state);
  putPlatform(view, record);
  putScheduling(view, record);
  putClientMetadata(view, record);
  if (type === SNAPSHOT) putSnapshot(view, record, links);
  else if (type === TEMPLATE) putTemplate(view, record);
  return view;
}

function readGuest(source: ViewSource): Guest {
  const isRunning = isUp(source.record.power_state);
  const guest = guestOf(source);
  return {
    type: typeOf(source.record),
    isRunning,
    metrics: metricsOf(source),
    guest,
    tools: isRunning && readToolsVersion(guest),
  };
}

function isUp(powerState: unknown): boolean {
  return powerState === "Running" || powerState === "Paused";
}

function guestOf({ record, links }: ViewSource): XapiRecord | undefined {
  return links.record(GUEST_METRICS.className, record[GUEST_METRICS.field]);
}

function metricsOf({ record, links }: ViewSource): XapiRecord | undefined {
  return links.record(METRICS.className, record[METRICS.field]);
}

function putLinks(view: ViewObject, { record, links }: ViewSource): void {
  view.snapshots = links.ids("VM", record.snapshots);
  view.VIFs = links.ids("VIF", record.VIFs);
  view.$VBDs = links.ids("VBD", record.VBDs);
  view.VTPMs = links.ids("VTPM", record.VTPMs);
  view.VGPUs = view.$VGPUs = links.ids("VGPU", record.VGPUs);
  put(view, "parent", links.id("VM", record.parent));
  put(view, "affinityHost", links.id("host", record.affinity));
  put(view, "suspendSr", links.id("SR", record.suspend_SR));
  put(view, "attachedPcis", toNestedPcis(record.other_config));
}

/**
 * The host that the VM runs on. For others: the host with local storage of the
 * VM, otherwise the pool.
 */
function containerOf(
  { record, links }: ViewSource,
  isRunning: boolean,
): string | undefined {
  const host = isRunning
    ? links.id("host", record.resident_on)
    : localHostOfDisks(record, links);
  return host ?? links.poolId;
}

/** Undefined unless the VM runs and its guest reports metrics. */
function readAgentDetected({
  isRunning,
  metrics,
  guest,
  tools,
}: Guest): boolean | undefined {
  return isRunning && metrics !== undefined && guest !== undefined
    ? isAgentDetected(guest, tools)
    : undefined;
}

function putRunning(view: ViewObject, state: Guest): void {
  const { metrics, guest, tools } = state;
  view.xenTools = tools;
  if (metrics !== undefined && guest !== undefined)
    putTools(view, guest, tools);
}

function putSnapshot(
  view: ViewObject,
  record: XapiRecord,
  links: ViewLinks,
): void {
  put(view, "snapshot_time", toSeconds(record.snapshot_time));
  put(view, "$snapshot_of", links.id("VM", record.snapshot_of));
  put(view, "suspendVdi", links.id("VDI", record.suspend_VDI));
}

function toCpus(record: XapiRecord, { metrics, tools }: Guest): ViewObject {
  const cpus: ViewObject = {};
  put(cpus, "max", toInteger(record.VCPUs_max));
  // Without tools the number of CPUs in use is not reliable.
  const running = tools ? toInteger(metrics?.VCPUs_number) : undefined;
  put(cpus, "number", running ?? toInteger(record.VCPUs_at_startup));
  return cpus;
}

/** In bytes. */
function toMemory(record: XapiRecord, state: Guest): ViewObject {
  const { isRunning, metrics, guest } = state;
  const dynamicMax = toInteger(record.memory_dynamic_max) ?? 0;
  const memory: ViewObject = {
    dynamic: [toInteger(record.memory_dynamic_min) ?? 0, dynamicMax],
    static: [
      toInteger(record.memory_static_min) ?? 0,
      toInteger(record.memory_static_max) ?? 0,
    ],
    size: dynamicMax,
  };
  if (!isRunning) return memory;
  put(memory, "usage", toInteger(memberOf(guest?.memory, "used")));
  memory.size =
    guestMemory(guest?.memory) ??
    toInteger(metrics?.memory_actual) ??
    dynamicMax;
  return memory;
}

/** `memory.size` alone, in bytes. */
function readMemorySize(
  powerState: unknown,
  dynamicMax: unknown,
  guest: unknown,
  actual: unknown,
): number {
  const size = isUp(powerState)
    ? (guestMemory(guest) ?? toInteger(actual))
    : undefined;
  return size ?? toInteger(dynamicMax) ?? 0;
}

/** The memory that the guest reports, in bytes; undefined unless it reports its use. */
function guestMemory(memory: unknown): number | undefined {
  return toInteger(memberOf(memory, "used")) === undefined
    ? undefined
    : toInteger(memberOf(memory, "total"));
}

/** `os_version.name` alone. */
function readOsName(osVersion: unknown): string | undefined {
  const name = memberOf(osVersion, "name");
  return typeof name === "string" ? name : undefined;
}

function toOsVersion(guest: XapiRecord | undefined): TextMap | null {
  return guest === undefined ? null : toTextMap(guest.os_version);
}
