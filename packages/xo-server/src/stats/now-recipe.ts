import type { ColumnSet } from "./column-set.js";

/** Computes one of the `now` metrics from the columns of an object. */
type Formula = (latest: (column: number) => number) => number;

/** In the order of `metricNames`: cpu, memory, disk, network. */
type MetricFormulas = readonly Formula[];

const KIB = 1024;
const MIB = 1024 * KIB;

const recipes = new WeakMap<ColumnSet, MetricFormulas>();

/** Created once per set of columns. SRs have none of these metrics. */
export function metricFormulas(columnSet: ColumnSet): MetricFormulas {
  let recipe = recipes.get(columnSet);
  if (recipe === undefined) {
    recipe = columnSet.type === "vm" ? ofVm(columnSet) : ofHost(columnSet);
    if (columnSet.type === "sr") recipe = [];
    recipes.set(columnSet, recipe);
  }
  return recipe;
}

function ofVm(columnSet: ColumnSet): MetricFormulas {
  const memory = column(columnSet, "memory");
  const free = column(columnSet, "memory_internal_free");
  return [
    cpu(columnSet, "cpu_usage"),
    (latest) => less(latest(memory), KIB * latest(free)),
    sum(columnSet, /^vbd_[^_]+_(read|write)$/),
    sum(columnSet, /^vif_\d+_(rx|tx)$/),
  ];
}

function ofHost(columnSet: ColumnSet): MetricFormulas {
  const total = column(columnSet, "memory_total_kib");
  const free = column(columnSet, "memory_free_kib");
  const aggregates = /^pif_aggr_(rx|tx)$/;
  const hasAggregates = columnSet.names.some((name) => aggregates.test(name));
  return [
    cpu(columnSet, "cpu_avg"),
    (latest) => used(KIB * latest(total), KIB * latest(free)),
    sum(columnSet, /^io_throughput_(read|write)_[0-9a-f]{8}$/, MIB),
    sum(columnSet, hasAggregates ? aggregates : /^pif_eth\d+_(rx|tx)$/),
  ];
}

/** @returns -1: not found */
function column({ names }: ColumnSet, name: string): number {
  return names.indexOf(name);
}

/** The host's average, or else the mean of the cores. */
function cpu(columnSet: ColumnSet, name: string): Formula {
  const total = column(columnSet, name);
  if (total >= 0) return (latest) => latest(total);
  const cores = columns(columnSet, /^cpu\d+$/);
  return (latest) => {
    let all = 0;
    for (const core of cores) all += latest(core);
    return cores.length === 0 ? NaN : all / cores.length;
  };
}

/** Sum of known values; NaN without any. */
function sum(columnSet: ColumnSet, pattern: RegExp, factor = 1): Formula {
  const found = columns(columnSet, pattern);
  return (latest) => {
    let all = NaN;
    for (const one of found) {
      const value = latest(one);
      if (!Number.isNaN(value)) all = (Number.isNaN(all) ? 0 : all) + value;
    }
    return all * factor;
  };
}

/** NaN if the figures are contradictory, with more free memory than there is in total. */
function used(total: number, free: number): number {
  return free > total ? NaN : total - free;
}

/** Subtracts free memory; without a guest agent all memory counts as used. */
function less(all: number, free: number): number {
  return Number.isNaN(free) ? all : Math.max(0, all - free);
}

function columns({ names }: ColumnSet, pattern: RegExp): number[] {
  return names.flatMap((name, i) => (pattern.test(name) ? [i] : []));
}
