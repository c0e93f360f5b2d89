import type { Database } from "../database.js";
import type { PoolData } from "../pool-state.js";
import { flag, int, refIn, refs, text } from "../records/fields.js";
import type { XapiRecord } from "../xapi-value.js";
import { deviceOf } from "../records/device-names.js";
import { hostCpuMetrics, vmCpuMetrics } from "./cpu-metrics.js";
import { runsOf } from "./vm-runs.js";
import { makeMetrics, type Metric, type MetricDefinition } from "./metric.js";

/** Data sources of a host, with the names and units of xcp-rrdd. */
export function hostMetrics(pool: PoolData, host: string): readonly Metric[] {
  const { db } = pool;
  const record = db.get("host", host);
  const memory = db.find("host_metrics", text(record, "metrics"));
  const total = memory === undefined ? 0 : int(memory, "memory_total");
  const free = memory === undefined ? 0 : int(memory, "memory_free");
  const nics = refs(record, "PIFs")
    .map((ref) => db.get("PIF", ref))
    .filter((pif) => flag(pif, "physical"))
    .map((pif) => text(pif, "device"));
  const others = makeMetrics(text(record, "uuid"), [
    {
      name: "loadavg",
      description: "Domain0 loadavg",
      units: "",
      low: 0.1,
      high: 3,
    },
    constant(
      "memory_total_kib",
      "Total amount of memory on the host",
      "KiB",
      total / 1024,
    ),
    constant("memory_free_kib", "Free memory on the host", "KiB", free / 1024),
    {
      name: "xapi_memory_usage_kib",
      description: "Total memory allocated used by xapi daemon",
      units: "KiB",
      low: 60_000,
      high: 90_000,
    },
    ...nics.flatMap((nic) => traffic(`pif_${nic}`)),
    ...traffic("pif_aggr"),
    ...refs(record, "PBDs")
      .map((ref) => db.get("PBD", ref))
      .filter((pbd) => flag(pbd, "currently_attached"))
      .flatMap((pbd) => srTraffic(db.get("SR", text(pbd, "SR")))),
  ]);
  return [...hostCpuMetrics(pool, host), ...others];
}

/** Metrics of a VM that runs or has run. */
export function vmMetrics(pool: PoolData, vm: string): readonly Metric[] {
  const { db } = pool;
  const record = db.get("VM", vm);
  const memory = int(record, "memory_dynamic_max");
  const runs = refIn(record, "resident_on") !== undefined;
  const disks = refs(record, "VBDs")
    .map((ref) => db.get("VBD", ref))
    .filter(
      (vbd) =>
        text(vbd, "type") === "Disk" &&
        (!runs || flag(vbd, "currently_attached")),
    )
    .map(deviceOf);
  const nics = refs(record, "VIFs").map((ref) =>
    text(db.get("VIF", ref), "device"),
  );
  const others = makeMetrics(
    text(record, "uuid"),
    [
      constant("memory", "Memory currently allocated to VM", "B", memory),
      constant("memory_target", "Target of VM balloon driver", "B", memory),
      {
        name: "memory_internal_free",
        description: "Memory used as reported by the guest agent",
        units: "KiB",
        low: memory / 10240,
        high: memory / 2048,
      },
      ...disks.flatMap(diskTraffic),
      ...nics.flatMap((nic) => traffic(`vif_${nic}`)),
    ],
    runsOf(pool, record),
  );
  return [...vmCpuMetrics(pool, vm), ...others];
}

/** Data sources of an SR; constant, from the fields of its record. */
export function srMetrics(db: Database, sr: string): readonly Metric[] {
  const record = db.get("SR", sr);
  return makeMetrics(text(record, "uuid"), [
    constant("size", "Size of the SR", "B", int(record, "physical_size")),
    constant(
      "physical_utilisation",
      "Physical utilisation of the SR",
      "B",
      int(record, "physical_utilisation"),
    ),
  ]);
}

/** The SRs that a host reports on: those of its own, and as coordinator the shared ones. */
export function srsOf(
  db: Database,
  host: string,
  coordinator: string,
): readonly string[] {
  return refs(db.get("host", host), "PBDs")
    .map((pbd) => text(db.get("PBD", pbd), "SR"))
    .filter((sr) => host === coordinator || !flag(db.get("SR", sr), "shared"));
}

function constant(
  name: string,
  description: string,
  units: string,
  value: number,
): MetricDefinition {
  return { name, description, units, low: value, high: value };
}

function traffic(name: string): readonly MetricDefinition[] {
  return [
    {
      name: `${name}_tx`,
      description: `Bytes per second sent on ${name}`,
      units: "B/s",
      low: 1000,
      high: 2e7,
    },
    {
      name: `${name}_rx`,
      description: `Bytes per second received on ${name}`,
      units: "B/s",
      low: 1000,
      high: 2e7,
    },
  ];
}

function diskTraffic(device: string): readonly MetricDefinition[] {
  const name = `vbd_${device}`;
  return [
    {
      name: `${name}_read`,
      description: `Reads from device '${device}' in bytes per second`,
      units: "B/s",
      low: 0,
      high: 5e7,
    },
    {
      name: `${name}_write`,
      description: `Writes to device '${device}' in bytes per second`,
      units: "B/s",
      low: 0,
      high: 3e7,
    },
    {
      name: `${name}_iops_read`,
      description: "Read requests per second",
      units: "requests/s",
      low: 0,
      high: 2000,
    },
    {
      name: `${name}_iops_write`,
      description: "Write requests per second",
      units: "requests/s",
      low: 0,
      high: 1500,
    },
    {
      name: `${name}_latency`,
      description: "Read and write latency",
      units: "ms",
      low: 0.2,
      high: 9,
    },
  ];
}

/**
 * Metrics of a host for an SR with disks; names contain the first eight digits of its uuid
 * [xcp-rrdd-iostat, from memory].
 */
function srTraffic(sr: XapiRecord): readonly MetricDefinition[] {
  if (text(sr, "content_type") === "iso" || text(sr, "type") === "udev")
    return [];
  const id = text(sr, "uuid").slice(0, 8);
  return srShapes.map((shape) => ({
    ...shape,
    name: `${shape.name}_${id}`,
    description: `${shape.description} on SR ${id}`,
  }));
}

const srShapes: readonly MetricDefinition[] = [
  ["io_throughput_read", "Data read", "MiB/s", 400],
  ["io_throughput_write", "Data written", "MiB/s", 300],
  ["io_throughput_total", "All data", "MiB/s", 700],
  ["iops_read", "Read requests", "requests/s", 9000],
  ["iops_write", "Write requests", "requests/s", 7000],
  ["iops_total", "All requests", "requests/s", 16_000],
  ["iowait", "Proportion of time waiting for I/O", "", 0.4],
  ["latency", "Average I/O latency", "milliseconds", 12],
].map(([name, description, units, high]) => ({
  name: name as string,
  description: description as string,
  units: units as string,
  low: 0,
  high: high as number,
}));
