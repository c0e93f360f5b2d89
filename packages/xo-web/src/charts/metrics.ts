import { difference, mean, onGrid, sum } from "./combine.js";
import type { Points } from "./stats-answer.js";
import type { StatsTrack } from "./stats-track.js";

export type MetricId =
  | "cpu"
  | "memory"
  | "network"
  | "throughput"
  | "iops"
  | "latency"
  | "load";

export type ChartUnit =
  | "percent"
  | "bytes"
  | "bytesPerSecond"
  | "perSecond"
  | "milliseconds"
  | "number";

/** Id of a line; key of its label. */
type LineMessageKey =
  | "usage"
  | "used"
  | "total"
  | "received"
  | "sent"
  | "read"
  | "written"
  | "load";

export interface MetricLine {
  readonly id: string;
  /** The line id, or the member (core or host). */
  readonly messageKey?: LineMessageKey;
  readonly core?: number;
  readonly member?: string;
  readonly points: Points;
}

export interface Metric {
  readonly id: MetricId;
  readonly unit: ChartUnit;
  readonly lines: readonly MetricLine[];
  /** Lines of single cores or hosts exist. */
  readonly hasMembers: boolean;
}

/** Statistics of an object; those of pools and SRs by host. */
export interface StatsSet {
  /** By the id of the object, or of hosts. */
  readonly tracks: ReadonlyMap<string, StatsTrack>;
  /** Interval of the common time grid in s. */
  readonly end: number;
  readonly step: number;
  readonly length: number;
}

/** Further member lines are left out: they could not be distinguished. */
export const MAX_MEMBERS = 7;

interface Recipe {
  readonly id: MetricId;
  readonly unit: ChartUnit;
  /** How the values of hosts are combined. */
  readonly across: (all: readonly Points[]) => Points;
  readonly lines: (
    track: StatsTrack,
  ) => readonly (readonly [LineMessageKey, Points])[];
}

const recipes: readonly Recipe[] = [
  { id: "cpu", unit: "percent", across: mean, lines: cpuLines },
  { id: "memory", unit: "bytes", across: sum, lines: memoryLines },
  {
    id: "network",
    unit: "bytesPerSecond",
    across: sum,
    lines: (track) => [
      ...line("received", sum, columns(track, "vifs.rx", "pifs.rx")),
      ...line("sent", sum, columns(track, "vifs.tx", "pifs.tx")),
    ],
  },
  {
    id: "throughput",
    unit: "bytesPerSecond",
    across: sum,
    lines: (track) => [
      ...line("read", sum, columns(track, "ioThroughput.r", "xvds.r")),
      ...line("written", sum, columns(track, "ioThroughput.w", "xvds.w")),
    ],
  },
  {
    id: "iops",
    unit: "perSecond",
    across: sum,
    lines: (track) => [
      ...line("read", sum, columns(track, "iops.r")),
      ...line("written", sum, columns(track, "iops.w")),
    ],
  },
  {
    id: "latency",
    unit: "milliseconds",
    across: mean,
    lines: (track) => [
      ...line("read", mean, columns(track, "latency.r")),
      ...line("written", mean, columns(track, "latency.w")),
    ],
  },
  {
    id: "load",
    unit: "number",
    across: mean,
    lines: (track) => line("load", sum, columns(track, "load")),
  },
];

/** All metrics with values. @param withMembers also single cores of a VM or host, single hosts of a pool or SR */
export function metricsOf(set: StatsSet, withMembers: boolean): Metric[] {
  return recipes.flatMap((recipe) => {
    const lines = wholeLines(recipe, set);
    if (lines.length === 0) return [];
    const members = memberLines(recipe, set);
    const hasMembers = members.length > 1;
    return [
      {
        id: recipe.id,
        unit: recipe.unit,
        hasMembers,
        lines: withMembers && hasMembers ? [...lines, ...members] : lines,
      },
    ];
  });
}

/** The times of the points of a set, in s since the epoch. */
export function timesOf({ end, step, length }: StatsSet): number[] {
  return Array.from({ length }, (_, i) => end - (length - 1 - i) * step);
}

function wholeLines(recipe: Recipe, set: StatsSet): MetricLine[] {
  const byMessageKey = new Map<LineMessageKey, Points[]>();
  for (const track of set.tracks.values())
    for (const [messageKey, points] of recipe.lines(track))
      byMessageKey.set(messageKey, [
        ...(byMessageKey.get(messageKey) ?? []),
        onGrid(points, track, set),
      ]);
  return [...byMessageKey].map(([messageKey, all]) => ({
    id: `${recipe.id}.${messageKey}`,
    messageKey,
    points: recipe.across(all),
  }));
}

/** The busiest members in their original order. */
function memberLines(recipe: Recipe, set: StatsSet): MetricLine[] {
  const all =
    set.tracks.size > 1
      ? [...set.tracks].flatMap(([member, track]) => {
          const [first] = recipe.lines(track);
          if (first === undefined) return [];
          const points = onGrid(first[1], track, set);
          return [{ id: `${recipe.id}.${member}`, member, points }];
        })
      : recipe.id === "cpu"
        ? [...set.tracks.values()].flatMap((track) => coreLines(track, set))
        : [];
  if (all.length <= MAX_MEMBERS) return all;
  const busiest = new Set(
    all
      .toSorted((a, b) => average(b.points) - average(a.points))
      .slice(0, MAX_MEMBERS),
  );
  return all.filter((one) => busiest.has(one));
}

function coreLines(track: StatsTrack, set: StatsSet): MetricLine[] {
  return pathsIn(track, "cpus").map((path) => {
    const core = Number(path.slice("cpus.".length));
    const points = onGrid(track.column(path)!, track, set);
    return { id: `cpu.core${core}`, core, points };
  });
}

function cpuLines(
  track: StatsTrack,
): readonly (readonly [LineMessageKey, Points])[] {
  const whole = track.column("cpuUsage");
  if (whole !== undefined) return [["usage", whole]];
  return line("usage", mean, columns(track, "cpus"));
}

function memoryLines(
  track: StatsTrack,
): readonly (readonly [LineMessageKey, Points])[] {
  const total = track.column("memory");
  const free = track.column("memoryFree");
  if (total === undefined) return [];
  if (free === undefined) return [["total", total]];
  return [
    ["used", difference(total, free)],
    ["total", total],
  ];
}

function line(
  messageKey: LineMessageKey,
  combine: (all: readonly Points[]) => Points,
  all: readonly Points[],
): readonly (readonly [LineMessageKey, Points])[] {
  return all.length === 0 ? [] : [[messageKey, combine(all)]];
}

/** Columns of the first prefix that has any. */
function columns(track: StatsTrack, ...prefixes: string[]): Points[] {
  for (const prefix of prefixes) {
    const paths = pathsIn(track, prefix);
    if (paths.length > 0) return paths.map((path) => track.column(path)!);
  }
  return [];
}

function pathsIn(track: StatsTrack, prefix: string): string[] {
  return track.paths.filter(
    (path) => path === prefix || path.startsWith(`${prefix}.`),
  );
}

/** Of the measured points; -1: there are none. */
function average(points: Points): number {
  let total = 0;
  let count = 0;
  for (const value of points)
    if (value !== null) {
      total += value;
      count++;
    }
  return count === 0 ? -1 : total / count;
}
