import { formatCount, formatMegabytes, formatMs } from "../harness/format.js";
import { figureOf, type Result } from "../harness/result.js";
import type { Target } from "../harness/target.js";

const sizes = ["100x1000", "A"];
const OBJECTS = 1_000_000;
const RSS_BYTES = 4e9;
const BLOCK_MS = 20;
const POOL_CPU_PERCENT = 2;
const FEED_BYTES_PER_SECOND = 30_000;
/** Limit of the growth of memory in a day, as a share: the allocator varies by more than that between two samples. */
const DAY_GROWTH = 0.01;
const HOURS_A_DAY = 24;

/** Compares the results of a run with the targets of a fleet. */
export function checkTargets(results: readonly Result[]): Target[] {
  // The targets are valid for this size only.
  const row = (mode: string) =>
    results.find((one) => one.mode === mode && sizes.includes(one.pool));
  const [mirror, views, day, pool] = ["mirror", "views", "day", "pool"].map(
    row,
  );
  return [
    size(mirror),
    memory("inventory alone", mirror),
    memory("with views and live queries", views),
    block("while loading", mirror, "load"),
    block("under churn", mirror, "churn"),
    block("under churn with views and live queries", views, "churn"),
    growth(day),
    below({
      requirement: `pool A at 200 changes a second, views kept: under ${POOL_CPU_PERCENT} % of a core`,
      value: figureOf(pool, "churnCpuPercent"),
      limit: POOL_CPU_PERCENT,
      text: (value) => `${value.toFixed(1)} %`,
    }),
    below({
      requirement: `the same: under ${FEED_BYTES_PER_SECOND / 1000} kB/s to a reader of the feed`,
      value: figureOf(pool, "feedBytesPerSecond"),
      limit: FEED_BYTES_PER_SECOND,
      text: (value) => `${(value / 1000).toFixed(1)} kB/s`,
    }),
  ];
}

function size(mirror: Result | undefined): Target {
  const objects = figureOf(mirror, "objects");
  return {
    requirement: `over ${formatCount(OBJECTS)} objects in one process`,
    measured: formatCount(objects),
    met: Number.isFinite(objects) ? objects > OBJECTS : undefined,
  };
}

function memory(what: string, result: Result | undefined): Target {
  return below({
    requirement: `highest RSS, ${what}: under ${RSS_BYTES / 1e9} GB`,
    value: figureOf(result, "peakRssBytes"),
    limit: RSS_BYTES,
    text: (value) => `${formatMegabytes(value)} MB`,
  });
}

function block(
  when: string,
  result: Result | undefined,
  phase: "load" | "churn",
): Target {
  const whole = figureOf(result, `${phase}BlockLongestMs`);
  return below({
    requirement: `no block of the event loop over ${BLOCK_MS} ms ${when}`,
    value: figureOf(result, `${phase}BlockLongestOwnMs`),
    limit: BLOCK_MS,
    text: (value) =>
      `${formatMs(value)} ms caused by the process itself (${formatMs(whole)} ms with waits for a core)`,
  });
}

function growth(day: Result | undefined): Target {
  const share =
    (figureOf(day, "rssBytesPerHour") * HOURS_A_DAY) /
    figureOf(day, "rssBytes");
  return below({
    requirement: `memory grows by less than ${DAY_GROWTH * 100} % in a day of changes`,
    value: share,
    limit: DAY_GROWTH,
    text: (value) => `${(value * 100).toFixed(2)} %`,
  });
}

function below({
  requirement,
  value,
  limit,
  text,
}: {
  readonly requirement: string;
  readonly value: number;
  readonly limit: number;
  readonly text: (value: number) => string;
}): Target {
  return {
    requirement,
    measured: Number.isFinite(value) ? text(value) : "-",
    met: Number.isFinite(value) ? value < limit : undefined,
  };
}
