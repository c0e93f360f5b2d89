/** A family of OpenMetrics samples from RRD data sources, named as in Xen Orchestra's OpenMetrics plugin. */
export interface MeasuredFamily {
  readonly type: "host" | "vm";
  /** Name of the RRD data source; its first group is the value of the label. */
  readonly pattern: RegExp;
  /** The name of a counter ends in `_total`. */
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
  readonly factor: number;
  readonly label: string | undefined;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** Microseconds to seconds. */
const MICRO = 1e-6;

interface FamilyOptions {
  readonly factor?: number;
  readonly label?: string;
}

export const measuredFamilies: readonly MeasuredFamily[] = [
  host(/^cpu_avg$/, "cpu_average", "average CPU usage ratio"),
  host(/^cpu(\d+)$/, "cpu_core_usage", "CPU core usage ratio", {
    label: "core",
  }),
  host(/^loadavg$/, "load_average", "load average"),
  host(/^hostload$/, "load", "load of the processors"),
  host(/^running_vcpus$/, "running_vcpus", "running virtual CPUs"),
  host(/^memory_free_kib$/, "memory_free_bytes", "free memory in bytes", {
    factor: KIB,
  }),
  host(/^memory_total_kib$/, "memory_total_bytes", "total memory in bytes", {
    factor: KIB,
  }),
  host(
    /^memory_reclaimed$/,
    "memory_reclaimed_bytes",
    "memory reclaimed by ballooning in bytes",
  ),
  host(
    /^memory_reclaimed_max$/,
    "memory_reclaimed_max_bytes",
    "memory that ballooning could reclaim in bytes",
  ),
  ...network("host", (way) => new RegExp(`^pif_(?!aggr_)(.+)_${way}$`)),
  host(
    /^pif_aggr_rx$/,
    "network_aggregated_receive_bytes",
    "bytes received per second on all interfaces",
  ),
  host(
    /^pif_aggr_tx$/,
    "network_aggregated_transmit_bytes",
    "bytes sent per second on all interfaces",
  ),
  ...disks("host", "sr", (what) => new RegExp(`^${what}_([0-9a-f]{8})$`)),
  vm(/^memory$/, "memory_bytes", "memory in bytes"),
  vm(
    /^memory_internal_free$/,
    "memory_internal_free_bytes",
    "free memory in the guest in bytes",
    { factor: KIB },
  ),
  vm(/^memory_target$/, "memory_target_bytes", "target of the memory in bytes"),
  vm(/^cpu_usage$/, "cpu_usage", "CPU usage ratio"),
  vm(/^cpu(\d+)$/, "cpu_core_usage", "CPU core usage ratio", {
    label: "core",
  }),
  ...[
    "fullrun",
    "full_contention",
    "partial_run",
    "partial_contention",
    "concurrency_hazard",
    "blocked",
  ].map((state) =>
    vm(
      new RegExp(`^runstate_${state}$`),
      `runstate_${state}`,
      `ratio of time in the run state ${state}`,
    ),
  ),
  ...network("vm", (way) => new RegExp(`^vif_(\\d+)_${way}$`)),
  ...(["receive", "transmit"] as const).map((way) =>
    vm(
      new RegExp(`^vif_(\\d+)_${way === "receive" ? "rx" : "tx"}_errors$`),
      `network_${way}_errors_total`,
      `errors per second on an interface (${way})`,
      { label: "vif" },
    ),
  ),
  ...(["read", "write"] as const).map((way) =>
    vm(
      new RegExp(`^vbd_(xvd[a-z]+)_${way}$`),
      `disk_${way}_bytes_total`,
      `bytes of a disk per second (${way})`,
      { label: "device" },
    ),
  ),
  ...disks("vm", "device", (what) => new RegExp(`^vbd_(xvd[a-z]+)_${what}$`)),
  vm(/^vbd_(xvd[a-z]+)_inflight$/, "disk_inflight", "requests in flight", {
    label: "device",
  }),
  vm(/^vbd_(xvd[a-z]+)_avgqu_sz$/, "disk_queue_size", "requests in the queue", {
    label: "device",
  }),
];

function host(
  pattern: RegExp,
  name: string,
  help: string,
  options: FamilyOptions = {},
) {
  return family("host", pattern, { name, help, ...options });
}

function vm(
  pattern: RegExp,
  name: string,
  help: string,
  options: FamilyOptions = {},
) {
  return family("vm", pattern, { name, help, ...options });
}

function family(
  type: "host" | "vm",
  pattern: RegExp,
  options: FamilyOptions & { readonly name: string; readonly help: string },
): MeasuredFamily {
  const { name, help, factor = 1, label } = options;
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
      help: `bytes per second on an interface (${what})`,
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
    one("iops_read", "iops_read", "reads per second"),
    one("iops_write", "iops_write", "writes per second"),
    one("iops_total", "iops_total", "requests per second"),
    one(
      "io_throughput_read",
      "throughput_read_bytes",
      "bytes read per second",
      MIB,
    ),
    one(
      "io_throughput_write",
      "throughput_write_bytes",
      "bytes written per second",
      MIB,
    ),
    one(
      "io_throughput_total",
      "throughput_total_bytes",
      "bytes per second",
      MIB,
    ),
    one(
      "read_latency",
      "read_latency_seconds",
      "read latency in seconds",
      MICRO,
    ),
    one(
      "write_latency",
      "write_latency_seconds",
      "write latency in seconds",
      MICRO,
    ),
    one("latency", "latency_seconds", "request latency in seconds", MICRO),
    one("iowait", "iowait", "ratio of time that requests wait"),
  ].map((metric) =>
    // `iops_total` is a rate of all requests, not a counter.
    metric.name.endsWith("iops_total") ? { ...metric, kind: "gauge" } : metric,
  );
}
