import type { XapiRecord } from "@xo-server/inventory";
import type { DeviceCount, RestartModel, VmModel } from "@xo-server/placement";
import { gpuKind } from "./read-host.js";
import {
  amountIn,
  keysIn,
  memberIn,
  textsIn,
  type PoolRecords,
} from "./read-records.js";

/** What a VM is to the planner. */
export interface VmContext {
  /** Measured, 0 to 1 of all its VCPUs; NaN: not known. */
  readonly cpu: number;
  /** CPU vendor by the id of a host that is in the model. */
  readonly cpus: ReadonlyMap<string, string | undefined>;
}

/** A VM that is no template, no snapshot and no control domain. */
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
  const now = isRunning ? amountIn(metrics?.VCPUs_number) : 0;
  return now || amountIn(record.VCPUs_at_startup);
}

/**
 * What XAPI keeps free for it on its host: all that it may have, though its
 * balloon may hold some of it now; or more, while it is made smaller.
 */
function memoryOf(
  record: XapiRecord,
  metrics: XapiRecord | undefined,
  isRunning: boolean,
): number {
  const has = isRunning ? amountIn(metrics?.memory_actual) : 0;
  const may =
    amountIn(record.memory_dynamic_max) || amountIn(record.memory_static_max);
  return Math.max(has, may) + amountIn(record.memory_overhead);
}

/** An empty drive needs nothing; an image that is in it must be in reach. */
function srsOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = new Set<string>();
  for (const vbd of textsIn(record.VBDs)) {
    const vdi = records.field("VBD", vbd, "VDI");
    const sr = records.id("SR", records.field("VDI", vdi, "SR"));
    if (sr !== undefined) ids.add(sr);
  }
  return [...ids];
}

function networksOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = new Set<string>();
  for (const vif of textsIn(record.VIFs)) {
    const id = records.id("network", records.field("VIF", vif, "network"));
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
}

function gpusOf(record: XapiRecord, records: PoolRecords): DeviceCount[] {
  const counts = new Map<string, number>();
  for (const ref of textsIn(record.VGPUs)) {
    const gpu = records.get("VGPU", ref);
    const group = records.id("GPU_group", gpu?.GPU_group);
    if (group === undefined) continue;
    const type = records.id("VGPU_type", gpu?.type) ?? String(gpu?.type);
    const kind = gpuKind(group, type);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Array.from(counts, ([kind, count]) => ({ kind, count }));
}

/** Why XAPI would not move it, in XAPI's words; the list of what it allows has the last one. */
function pinnedBy(record: XapiRecord): string | undefined {
  if (memberIn(record.blocked_operations, "pool_migrate") !== undefined)
    return "OPERATION_BLOCKED";
  if (textsIn(record.attached_PCIs).length > 0) return "VM_HAS_PCI_ATTACHED";
  if (textsIn(record.VGPUs).length > 0) return "VM_HAS_VGPU";
  if (textsIn(record.VUSBs).length > 0) return "VM_HAS_VUSBS";
  const allowed = textsIn(record.allowed_operations);
  if (allowed.length === 0 || allowed.includes("pool_migrate"))
    return undefined;
  return keysIn(record.current_operations).length > 0
    ? "OTHER_OPERATION_IN_PROGRESS"
    : "VM_LACKS_FEATURE";
}

function restartOf(record: XapiRecord): RestartModel | undefined {
  const priority = record.ha_restart_priority;
  if (priority !== "restart" && priority !== "best-effort") return undefined;
  return {
    priority,
    order: amountIn(record.order),
    delay: amountIn(record.start_delay),
  };
}
