import type { XapiRecord } from "@xo-server/inventory";
import type { DeviceCount, HostModel } from "@xo-server/placement";
import {
  amountIn,
  memberIn,
  textsIn,
  type PoolRecords,
} from "./read-records.js";

/** Networks without any interface of a host are inside hosts: every host has them. */
export function internalNetworks(records: PoolRecords): string[] {
  const ids: string[] = [];
  for (const network of records.list("network"))
    if (textsIn(network.column("PIFs")).length === 0 && network.uuid)
      ids.push(network.uuid);
  return ids;
}

/** @param cpu measured, 0 to 1 of all cores; NaN: not known */
export function readHost(
  record: XapiRecord,
  records: PoolRecords,
  { cpu, networks }: { readonly cpu: number; readonly networks: string[] },
): HostModel {
  const metrics = records.get("host_metrics", record.metrics);
  const cores = amountIn(memberIn(record.cpu_info, "cpu_count"));
  const vendor = memberIn(record.cpu_info, "vendor");
  return {
    id: String(record.uuid),
    state:
      metrics?.live !== true
        ? "down"
        : record.enabled === true
          ? "up"
          : "disabled",
    memory: memoryOf(record, records),
    cores,
    ...(Number.isFinite(cpu) && cpu >= 0 ? { load: cpu * cores } : {}),
    networks: [...new Set([...networks, ...networksOf(record, records)])],
    srs: srsOf(record, records),
    devices: gpusOf(record, records),
    ...(typeof vendor === "string" ? { cpu: vendor } : {}),
  };
}

/** What is built in, less what Xen and XAPI keep and what the control domain has. */
function memoryOf(record: XapiRecord, records: PoolRecords): number {
  const metrics = records.get("host_metrics", record.metrics);
  const domain = records.get("VM", record.control_domain);
  const running = records.get("VM_metrics", domain?.metrics);
  const kept =
    amountIn(record.memory_overhead) +
    (amountIn(running?.memory_actual) || amountIn(domain?.memory_target));
  return Math.max(0, amountIn(metrics?.memory_total) - kept);
}

/** Plugged or not: XAPI brings up what a VM needs. */
function networksOf(record: XapiRecord, records: PoolRecords): string[] {
  return textsIn(record.PIFs).flatMap(
    (pif) => records.id("network", records.field("PIF", pif, "network")) ?? [],
  );
}

function srsOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = textsIn(record.PBDs)
    .filter((pbd) => records.field("PBD", pbd, "currently_attached") === true)
    .flatMap((pbd) => records.id("SR", records.field("PBD", pbd, "SR")) ?? []);
  return [...new Set(ids)];
}

/** What a VM takes of a GPU group: XAPI counts each type of a virtual GPU by itself. */
export function gpuKind(group: string, type: string): string {
  return `${group}/${type}`;
}

/** Of SR-IOV XAPI tells what is left only when it is asked, not in its records. */
function gpusOf(record: XapiRecord, records: PoolRecords): DeviceCount[] {
  const counts = new Map<string, number>();
  for (const ref of textsIn(record.PGPUs)) {
    const gpu = records.get("PGPU", ref);
    const group = records.id("GPU_group", gpu?.GPU_group);
    if (group === undefined) continue;
    for (const type of textsIn(gpu?.enabled_VGPU_types)) {
      const kind = gpuKind(group, records.id("VGPU_type", type) ?? type);
      const most = memberIn(gpu?.supported_VGPU_max_capacities, type);
      const count = most === undefined ? 1 : amountIn(most);
      counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
  }
  return Array.from(counts, ([kind, count]) => ({ kind, count }));
}
