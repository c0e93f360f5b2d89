import { computed, type ComputedRef, type Ref, type ShallowRef } from "vue";
import { useLocale } from "../locale/use-locale.js";
import { chartLines } from "./chart-lines.js";
import { comparedLines, type Comparison } from "./compare-with.js";
import { metricsOf, timesOf } from "./metrics.js";
import { refreshMs, spanOf, type StatRange } from "./stat-range.js";
import type { StatsType } from "./stats-source.js";
import { useHostNames } from "./use-host-names.js";
import { useStats } from "./use-stats.js";

interface StatChartsOptions {
  readonly type: () => StatsType;
  readonly id: () => string;
  readonly range: ComputedRef<StatRange>;
  readonly comparison: Readonly<ShallowRef<Comparison>>;
  /** Each host of a pool or SR, each core of a host or VM. */
  readonly withMembers: Readonly<Ref<boolean>>;
}

/** The charts of an object's statistics, with an optional comparison. */
export function useStatCharts(options: StatChartsOptions) {
  const { type, id, range, comparison, withMembers } = options;
  const { text } = useLocale();
  const { set, error, silent } = useStats(() => ({
    type: type(),
    id: id(),
    granularity: range.value.granularity,
    refreshMs: refreshMs(range.value),
  }));
  const { set: otherSet } = useStats(() => {
    const compared = comparison.value;
    const { before, granularity } = range.value;
    const shared = { type: type(), refreshMs: refreshMs(range.value) };
    if (compared.kind === "object")
      return { ...shared, id: compared.id, granularity };
    if (compared.kind === "before" && before !== undefined)
      return { ...shared, id: id(), granularity: before };
    return undefined;
  });
  const isOfHosts = computed(() => type() === "pool" || type() === "SR");
  const hostNames = useHostNames(() =>
    isOfHosts.value
      ? [...(set.value?.tracks.keys() ?? []), ...silent.value.keys()]
      : [],
  );

  const times = computed(() => (set.value ? timesOf(set.value) : []));
  const comparedName = computed(() =>
    comparison.value.kind === "object"
      ? comparison.value.name
      : text.value.charts.compare.before,
  );
  const charts = computed(() => {
    if (set.value === undefined) return [];
    const grid = set.value;
    const shift = comparison.value.kind === "before" ? spanOf(range.value) : 0;
    const compared =
      otherSet.value && comparedLines(otherSet.value, grid, shift);
    return metricsOf(grid, withMembers.value).map((metric) => ({
      metric,
      heading: text.value.charts.metrics[metric.id],
      lines: chartLines(metric, compared, {
        text: text.value,
        nameOf: (host) => hostNames.value.get(host) ?? host.slice(0, 8),
        comparedName: comparedName.value,
      }),
    }));
  });
  return {
    set,
    otherSet,
    error,
    silent,
    isOfHosts,
    hostNames,
    times,
    charts,
  };
}

export type StatChart = ReturnType<
  typeof useStatCharts
>["charts"]["value"][number];
