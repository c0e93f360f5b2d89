import type { XapiRecord } from "@xo-server/inventory";
import type { DeviceCount, HostModel } from "@xo-server/placement";
import {
  numberIn,
  memberIn,
  stringsIn,
  type PoolRecords,
} from "./read-records.js";

/** Networks without PIFs are internal to hosts: every host has them. */
export function internalNetworks(records: PoolRecords): string[] {
  const ids: string[] = [];
  for (const network of records.list("network"))
    if (stringsIn(network.column("PIFs")).length === 0 && network.uuid)
      ids.push(network.uuid);
  return ids;
}

/** @param cpu measured use of all cores, 0 to 1; NaN: unknown */
export function readHost(
  record: XapiRecord,
  records: PoolRecords,
  { cpu, networks }: { readonly cpu: number; readonly networks: string[] },
): HostModel {
  const metrics = records.get("host_metrics", record.metrics);
  const cores = numberIn(memberIn(record.cpu_info, "cpu_count"));
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
    ...(cpu >= 0 ? { load: cpu * cores } : { isUnmeasured: true }),
    networks: [...new Set([...networks, ...networksOf(record, records)])],
    srs: srsOf(record, records),
    devices: gpusOf(record, records),
    ...(typeof vendor === "string" ? { cpu: vendor } : {}),
  };
}

/** Physical memory minus that of Xen, XAPI and the control domain, in bytes. */
function memoryOf(record: XapiRecord, records: PoolRecords): number {
  const metrics = records.get("host_metrics", record.metrics);
  const domain = records.get("VM", record.control_domain);
  const running = records.get("VM_metrics", domain?.metrics);
  const kept =
    numberIn(record.memory_overhead) +
    (numberIn(running?.memory_actual) || numberIn(domain?.memory_target));
  return Math.max(0, numberIn(metrics?.memory_total) - kept);
}

/** Whether plugged or not: XAPI plugs the PIFs that a VM needs. */
function networksOf(record: XapiRecord, records: PoolRecords): string[] {
  return stringsIn(record.PIFs).flatMap(
    (pif) => records.id("network", records.field("PIF", pif, "network")) ?? [],
  );
}

function srsOf(record: XapiRecord, records: PoolRecords): string[] {
  const ids = stringsIn(record.PBDs)
    .filter((pbd) => records.field("PBD", pbd, "currently_attached") === true)
    .flatMap((pbd) => records.id("SR", records.field("PBD", pbd, "SR")) ?? []);
  return [...new Set(ids)];
}

/**
 * Device kind of a virtual GPU: XAPI counts each VGPU type of a GPU group
 * separately.
 */
export function gpuKind(group: string, type: string): string {
  return `${group}/${type}`;
}

/** SR-IOV capacity is not in XAPI's records, so it is not part of the model. */
function gpusOf(record: XapiRecord, records: PoolRecords): DeviceCount[] {
  const counts = new Map<string, number>();
  for (const ref of stringsIn(record.PGPUs)) {
    const gpu = records.get("PGPU", ref);
    const group = records.id("GPU_group", gpu?.GPU_group);
    if (group === undefined) continue;
    for (const type of stringsIn(gpu?.enabled_VGPU_types)) {
      const kind = gpuKind(group, records.id("VGPU_type", type) ?? type);
      const most = memberIn(gpu?.supported_VGPU_max_capacities, type);
      const count = most === undefined ? 1 : numberIn(most);
      counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
  }
  return Array.from(counts, ([kind, count]) => ({ kind, count }));
}
