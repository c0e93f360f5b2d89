/** A family of samples that XAPI's measurements are told as: CONTRACT 5. */
export interface MeasuredFamily {
  readonly type: "host" | "vm";
  /** Name of the column; its first group is the label's value. */
  readonly pattern: RegExp;
  /** A counter's ends in `_total`. */
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
  readonly factor: number;
  readonly label: string | undefined;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** From microseconds to seconds. */
const MICRO = 1e-6;

interface More {
  readonly factor?: number;
  readonly label?: string;
}

export const measuredFamilies: readonly MeasuredFamily[] = [
  host(/^cpu_avg$/, "cpu_average", "average CPU usage ratio"),
  host(/^cpu(\d+)$/, "cpu_core_usage", "CPU core usage ratio", {
    label: "core",
  }),
  host(/^loadavg$/, "load_average", "load average"),
  host(/^hostload$/, "load", "load of its processors"),
  host(/^running_vcpus$/, "running_vcpus", "virtual CPUs that run"),
  host(/^memory_free_kib$/, "memory_free_bytes", "free memory in bytes", {
    factor: KIB,
  }),
  host(/^memory_total_kib$/, "memory_total_bytes", "total memory in bytes", {
    factor: KIB,
  }),
  host(
    /^memory_reclaimed$/,
    "memory_reclaimed_bytes",
    "memory reclaimed by squeezing, in bytes",
  ),
  host(
    /^memory_reclaimed_max$/,
    "memory_reclaimed_max_bytes",
    "memory that squeezing could reclaim, in bytes",
  ),
  ...network("host", (way) => new RegExp(`^pif_(?!aggr_)(.+)_${way}$`)),
  host(
    /^pif_aggr_rx$/,
    "network_aggregated_receive_bytes",
    "bytes received each second on all interfaces",
  ),
  host(
    /^pif_aggr_tx$/,
    "network_aggregated_transmit_bytes",
    "bytes sent each second on all interfaces",
  ),
  ...disks("host", "sr", (what) => new RegExp(`^${what}_([0-9a-f]{8})$`)),
  vm(/^memory$/, "memory_bytes", "memory in bytes"),
  vm(
    /^memory_internal_free$/,
    "memory_internal_free_bytes",
    "memory that the guest has free, in bytes",
    { factor: KIB },
  ),
  vm(/^memory_target$/, "memory_target_bytes", "memory to come to, in bytes"),
  vm(/^cpu_usage$/, "cpu_usage", "CPU usage ratio"),
  vm(/^cpu(\d+)$/, "cpu_core_usage", "CPU core usage ratio", {
    label: "core",
  }),
  ...[
    ...["fullrun", "full_contention", "partial_run"],
    ...["partial_contention", "concurrency_hazard", "blocked"],
  ].map((state) =>
    vm(
      new RegExp(`^runstate_${state}$`),
      `runstate_${state}`,
      `share of time in the state ${state}`,
    ),
  ),
  ...network("vm", (way) => new RegExp(`^vif_(\\d+)_${way}$`)),
  ...(["receive", "transmit"] as const).map((way) =>
    vm(
      new RegExp(`^vif_(\\d+)_${way === "receive" ? "rx" : "tx"}_errors$`),
      `network_${way}_errors_total`,
      `errors each second on an interface (${way})`,
      { label: "vif" },
    ),
  ),
  ...(["read", "write"] as const).map((way) =>
    vm(
      new RegExp(`^vbd_(xvd[a-z]+)_${way}$`),
      `disk_${way}_bytes_total`,
      `bytes of a disk each second (${way})`,
      { label: "device" },
    ),
  ),
  ...disks("vm", "device", (what) => new RegExp(`^vbd_(xvd[a-z]+)_${what}$`)),
  vm(/^vbd_(xvd[a-z]+)_inflight$/, "disk_inflight", "requests under way", {
    label: "device",
  }),
  vm(/^vbd_(xvd[a-z]+)_avgqu_sz$/, "disk_queue_size", "requests in the queue", {
    label: "device",
  }),
];

function host(pattern: RegExp, name: string, help: string, more: More = {}) {
  return family("host", pattern, { name, help, ...more });
}

function vm(pattern: RegExp, name: string, help: string, more: More = {}) {
  return family("vm", pattern, { name, help, ...more });
}

function family(
  type: "host" | "vm",
  pattern: RegExp,
  more: More & { readonly name: string; readonly help: string },
): MeasuredFamily {
  const { name, help, factor = 1, label } = more;
  return {
    type,
    pattern,
    factor,
    label,
    name: `xcp_${type}_${name}`,
    kind: name.endsWith("_total") ? "counter" : "gauge",
    help: `${type === "vm" ? "VM" : "Host"} ${help}`,
  };
}

function network(
  type: "host" | "vm",
  toPattern: (way: string) => RegExp,
): MeasuredFamily[] {
  const label = type === "host" ? "interface" : "vif";
  const one = (way: string, what: string) =>
    family(type, toPattern(way), {
      name: `network_${what}_bytes_total`,
      label,
      help: `bytes each second on an interface (${what})`,
    });
  return [one("rx", "receive"), one("tx", "transmit")];
}

function disks(
  type: "host" | "vm",
  label: string,
  toPattern: (what: string) => RegExp,
): MeasuredFamily[] {
  const one = (what: string, name: string, help: string, factor = 1) =>
    family(type, toPattern(what), {
      name: `disk_${name}`,
      help,
      factor,
      label,
    });
  return [
    one("iops_read", "iops_read", "reads each second"),
    one("iops_write", "iops_write", "writes each second"),
    one("iops_total", "iops_total", "requests each second"),
    one(
      "io_throughput_read",
      "throughput_read_bytes",
      "bytes read each second",
      MIB,
    ),
    one(
      "io_throughput_write",
      "throughput_write_bytes",
      "bytes written each second",
      MIB,
    ),
    one(
      "io_throughput_total",
      "throughput_total_bytes",
      "bytes each second",
      MIB,
    ),
    one("read_latency", "read_latency_seconds", "time of a read", MICRO),
    one("write_latency", "write_latency_seconds", "time of a write", MICRO),
    one("latency", "latency_seconds", "time of a request", MICRO),
    one("iowait", "iowait", "share of time that requests wait"),
  ].map((told) =>
    // `iops_total` is a rate of all requests, not a counter.
    told.name.endsWith("iops_total") ? { ...told, kind: "gauge" } : told,
  );
}
