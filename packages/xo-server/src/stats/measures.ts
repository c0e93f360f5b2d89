import type { ColumnSet } from "./column-set.js";

/** Where a XAPI column appears in the API, and in which unit. */
export interface Measure {
  readonly pattern: RegExp;
  /** Keys in `stats`; `$1` is the first group of the pattern. */
  readonly path: readonly string[];
  /** Default 1. */
  readonly factor?: number;
}

const PERCENT = 100;
const KIB = 1024;
const MIB = 1024 * KIB;
/** From microseconds to milliseconds. */
const MILLI = 1 / 1000;

/** RRD data sources of hosts by the path of the value in the response; paths and units are those of Xen Orchestra. */
export const hostMeasures: readonly Measure[] = [
  measure(/^cpu(\d+)$/, ["cpus", "$1"], PERCENT),
  measure(/^memory_total_kib$/, ["memory"], KIB),
  measure(/^memory_free_kib$/, ["memoryFree"], KIB),
  measure(/^loadavg$/, ["load"]),
  measure(/^pif_eth(\d+)_rx$/, ["pifs", "rx", "$1"]),
  measure(/^pif_eth(\d+)_tx$/, ["pifs", "tx", "$1"]),
  ...storage((what) => new RegExp(`^${what}_([0-9a-f]{8})$`)),
];

export const vmMeasures: readonly Measure[] = [
  measure(/^cpu(\d+)$/, ["cpus", "$1"], PERCENT),
  measure(/^cpu_usage$/, ["cpuUsage"], PERCENT),
  measure(/^memory$/, ["memory"]),
  measure(/^memory_internal_free$/, ["memoryFree"], KIB),
  measure(/^vif_(\d+)_rx$/, ["vifs", "rx", "$1"]),
  measure(/^vif_(\d+)_tx$/, ["vifs", "tx", "$1"]),
  measure(/^vif_(\d+)_rx_errors$/, ["vifErrors", "rx", "$1"]),
  measure(/^vif_(\d+)_tx_errors$/, ["vifErrors", "tx", "$1"]),
  measure(/^vbd_xvd([a-z]+)_read$/, ["xvds", "r", "$1"]),
  measure(/^vbd_xvd([a-z]+)_write$/, ["xvds", "w", "$1"]),
  ...storage((what) => new RegExp(`^vbd_xvd([a-z]+)_${what}$`)),
];

/**
 * Columns of a host about one SR, identified by the first eight characters of
 * its UUID.
 */
export function srMeasures(uuid: string): readonly Measure[] {
  const prefix = uuid.slice(0, 8).replace(/[^0-9a-f]/g, "");
  return storage((what) => new RegExp(`^${what}_${prefix}$`)).map(
    ({ path, ...rest }) => ({ ...rest, path: path.slice(0, -1) }),
  );
}

function storage(toPattern: (what: string) => RegExp): Measure[] {
  return [
    measure(toPattern("iops_read"), ["iops", "r", "$1"]),
    measure(toPattern("iops_write"), ["iops", "w", "$1"]),
    measure(toPattern("io_throughput_read"), ["ioThroughput", "r", "$1"], MIB),
    measure(toPattern("io_throughput_write"), ["ioThroughput", "w", "$1"], MIB),
    measure(toPattern("read_latency"), ["latency", "r", "$1"], MILLI),
    measure(toPattern("write_latency"), ["latency", "w", "$1"], MILLI),
    measure(toPattern("iowait"), ["iowait", "$1"]),
  ];
}

function measure(
  pattern: RegExp,
  path: readonly string[],
  factor = 1,
): Measure {
  return { pattern, path, factor };
}

/** A column with its path and factor. */
export interface MappedColumn {
  readonly column: number;
  readonly path: readonly string[];
  readonly factor: number;
}

const columns = new WeakMap<
  readonly Measure[],
  WeakMap<ColumnSet, readonly MappedColumn[]>
>();

/** Unknown columns are left out. Computed once per set of columns. */
export function mapColumns(
  columnSet: ColumnSet,
  measures: readonly Measure[],
): readonly MappedColumn[] {
  const known =
    columns.get(measures) ?? new WeakMap<ColumnSet, readonly MappedColumn[]>();
  columns.set(measures, known);
  const found = known.get(columnSet) ?? find(columnSet, measures);
  known.set(columnSet, found);
  return found;
}

/** Finds measures, in the order of output: `cpus.2` before `cpus.10`. */
function find(
  { names }: ColumnSet,
  measures: readonly Measure[],
): MappedColumn[] {
  const all = names.flatMap((name, column) => {
    for (const { pattern, path, factor = 1 } of measures) {
      const match = pattern.exec(name);
      if (match === null) continue;
      const keys = path.map((key) => (key === "$1" ? match[1]! : key));
      return [{ column, path: keys, factor }];
    }
    return [];
  });
  return all.toSorted(byPath);
}

/** Created by the first use: it loads 4 MiB of tables of languages, which a server without pools does not need. */
let collator: Intl.Collator | undefined;

function byPath(a: MappedColumn, b: MappedColumn): number {
  collator ??= new Intl.Collator("en", { numeric: true });
  return collator.compare(a.path.join("."), b.path.join("."));
}
