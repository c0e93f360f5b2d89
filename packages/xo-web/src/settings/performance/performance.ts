/** The answer of `system.getPerformance`: columns of the last hour; each number is of the interval that ended at its time. */
export interface Performance {
  readonly intervalMs: number;
  /** In ms since the epoch. */
  readonly times: readonly number[];
  readonly columns: Readonly<Record<string, readonly number[]>>;
}

const HOUR_MS = 3_600_000;
/** Number of intervals without data that make a gap: the server did not run. */
const GAP = 3;

/** Appends new data and drops what is older than an hour. */
export function append(
  before: Performance | undefined,
  news: Performance,
): Performance {
  if (before === undefined) return news;
  const last = before.times.at(-1) ?? 0;
  const from = news.times.findIndex((time) => time > last);
  const end = news.times.at(-1) ?? last;
  const kept = before.times.findIndex((time) => time > end - HOUR_MS);
  const join = (old: readonly number[], fresh: readonly number[]) => [
    ...(kept < 0 ? [] : old.slice(kept)),
    ...(from < 0 ? [] : fresh.slice(from)),
  ];
  return {
    intervalMs: news.intervalMs,
    times: join(before.times, news.times),
    columns: Object.fromEntries(
      Object.entries(news.columns).map(([name, column]) => [
        name,
        join(before.columns[name] ?? [], column),
      ]),
    ),
  };
}

/** Times in s and columns for a chart, with a null at each gap. */
export function toChart({ intervalMs, times, columns }: Performance): {
  readonly times: readonly number[];
  readonly column: (name: string) => readonly (number | null)[];
} {
  const indexes: (number | null)[] = [];
  const seconds: number[] = [];
  for (const [i, time] of times.entries()) {
    const before = times[i - 1] ?? time;
    if (time - before > GAP * intervalMs) {
      seconds.push((before + intervalMs) / 1000);
      indexes.push(null);
    }
    seconds.push(time / 1000);
    indexes.push(i);
  }
  return {
    times: seconds,
    column: (name) =>
      indexes.map((index) =>
        index === null ? null : (columns[name]?.[index] ?? null),
      ),
  };
}

export interface ChartPlan {
  readonly id:
    | "loop"
    | "busy"
    | "blocks"
    | "parser"
    | "tasks"
    | "memory"
    | "connections";
  readonly unit: "milliseconds" | "percent" | "number" | "bytes" | "perSecond";
  /** Columns, each a line. */
  readonly lines: readonly string[];
  /** Factor, such as 100 for shares in percent. */
  readonly times?: number;
}

/** The charts in their order. */
export const charts: readonly ChartPlan[] = [
  {
    id: "loop",
    unit: "milliseconds",
    lines: ["loopP50Ms", "loopP99Ms", "loopMaxMs"],
  },
  { id: "busy", unit: "percent", lines: ["utilization", "cpu"], times: 100 },
  { id: "blocks", unit: "number", lines: ["blocks"] },
  {
    id: "parser",
    unit: "milliseconds",
    lines: ["parserWaitP99Ms", "parserRunP99Ms"],
  },
  {
    id: "tasks",
    unit: "perSecond",
    lines: ["changes", "parserTasks"],
  },
  {
    id: "memory",
    unit: "bytes",
    lines: ["rssBytes", "heapUsedBytes", "externalBytes"],
  },
  {
    id: "connections",
    unit: "number",
    lines: ["clients", "parserQueued"],
  },
];
