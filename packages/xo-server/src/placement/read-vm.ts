import type { XapiRecord } from "@xo-server/inventory";
import type { DeviceCount, RestartModel, VmModel } from "@xo-server/placement";
import { migrationObstacle } from "./migration-obstacle.js";
import { gpuKind } from "./read-host.js";
import {
  numberIn,
  memberIn,
  stringsIn,
  type PoolRecords,
} from "./read-records.js";

/** Data about hosts that a VM's model needs. */
interface VmContext {
  /** Measured use of all its VCPUs, 0 to 1; NaN: unknown. */
  readonly cpu: number;
  /** CPU vendor by host id. */
  readonly cpus: ReadonlyMap<string, string | undefined>;
}

/** @param record a VM that is not a template, snapshot or control domain */
export function readVm(
  record: XapiRecord,
  records: PoolRecords,
  { cpu, cpus }: VmContext,
): VmModel {
  const metrics = records.get("VM_metrics", record.metrics);
  const resident = records.id("host", record.resident_on);
  const state = record.power_state;
  const isRunning = state === "Running" || state === "Paused";
  const host =
    isRunning && resident !== undefined && cpus.has(resident)
      ? resident
      : undefined;
  const vcpus = vcpusOf(record, metrics, isRunning);
  const vendor = host === undefined ? undefined : cpus.get(host);
  const pinned = host === undefined ? undefined : pinnedBy(record);
  const restart = restartOf(record);
  return {
    id: String(record.uuid),
    memory: memoryOf(record, metrics, isRunning),
    vcpus,
    ...(host !== undefined && cpu >= 0 ? { load: cpu * vcpus } : {}),
    srs: srsOf(record, records),
    networks: networksOf(record, records),
    devices: gpusOf(record, records),
    ...(host === undefined ? {} : { host }),
    ...(vendor === undefined ? {} : { cpu: vendor }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(restart === undefined ? {} : { restart }),
  };
}

function vcpusOf(
  record: XapiRecord,
  metrics: XapiRecord | undefined,
  isRunning: boolean,
): number {
  const now = isRunning ? numberIn(metrics?.VCPUs_number) : 0;
  return now || numberIn(record.VCPUs_at_startup);
}

/**
 * Memory that XAPI reserves for the VM on its host, in bytes: the dynamic maximum,
 * regardless of the balloon driver; more while the memory is being reduced.
 */
function memoryOf(
  record: XapiRecord,
  metrics: XapiRecord | undefined,
  isRunning: boolean,
): number {
  const has = isRunning ? numberIn(metrics?.memory_actual) : 0;
  const may =
    numberIn(record.memory_dynamic_max) || numberIn(record.memory_static_max);
  return Math.max(has, may) + numberIn(record.memory_overhead);
}

/**
 * An empty CD drive needs no SR; an inserted image needs the SR that has it.
 */
function srsOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = new Set<string>();
  for (const vbd of stringsIn(record.VBDs)) {
    const vdi = records.field("VBD", vbd, "VDI");
    const sr = records.id("SR", records.field("VDI", vdi, "SR"));
    if (sr !== undefined) ids.add(sr);
  }
  return [...ids];
}

function networksOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = new Set<string>();
  for (const vif of stringsIn(record.VIFs)) {
    const id = records.id("network", records.field("VIF", vif, "network"));
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

function gpusOf(record: XapiRecord, records: PoolRecords): DeviceCount[] {
  const counts = new Map<string, number>();
  for (const ref of stringsIn(record.VGPUs)) {
    const gpu = records.get("VGPU", ref);
    const group = records.id("GPU_group", gpu?.GPU_group);
    if (group === undefined) continue;
    const type = records.id("VGPU_type", gpu?.type) ?? String(gpu?.type);
    const kind = gpuKind(group, type);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Array.from(counts, ([kind, count]) => ({ kind, count }));
}

/**
 * XAPI's error code when the VM cannot be migrated. `allowed_operations` is
 * checked last, because it has no reason.
 */
function pinnedBy(record: XapiRecord): string | undefined {
  const obstacle = migrationObstacle(record)?.code;
  if (obstacle === "VM_BAD_POWER_STATE") return obstacle;
  if (memberIn(record.blocked_operations, "pool_migrate") !== undefined)
    return "OPERATION_BLOCKED";
  if (stringsIn(record.attached_PCIs).length > 0) return "VM_HAS_PCI_ATTACHED";
  if (stringsIn(record.VGPUs).length > 0) return "VM_HAS_VGPU";
  if (stringsIn(record.VUSBs).length > 0) return "VM_HAS_VUSBS";
  const allowed = stringsIn(record.allowed_operations);
  if (allowed.length === 0 || allowed.includes("pool_migrate"))
    return undefined;
  return obstacle ?? "VM_LACKS_FEATURE";
}

function restartOf(record: XapiRecord): RestartModel | undefined {
  const priority = record.ha_restart_priority;
  if (priority !== "restart" && priority !== "best-effort") return undefined;
  return {
    priority,
    order: numberIn(record.order),
    delay: numberIn(record.start_delay),
  };
}
