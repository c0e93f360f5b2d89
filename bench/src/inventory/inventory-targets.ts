import { formatCount } from "../harness/format.js";
import { figureOf, type Result } from "../harness/result.js";
import { atMost, atMostMs, type Target } from "../harness/target.js";
import type { Section } from "./row.js";

const LARGE = "100,000 VMs";

/** Profile of the simulated pool that the targets are defined for. */
const PROFILE = "A";

type Find = (section: Section, mode: string) => Result | undefined;

/**
 * Done once, when a class is requested for the first time; not part of any
 * query.
 */
const SET_UP = "the first query: builds all views";

/** Compares the results of a run with the targets of the inventory. */
export function checkTargets(results: readonly Result[]): Target[] {
  const of: Find = (section, mode) =>
    results.find(
      (one) =>
        one.place === section &&
        one.mode === mode &&
        (one.pool === PROFILE || section === "second-read"),
    );
  const queries = results.filter(
    ({ place, pool, mode }) =>
      place === "queries" && pool === LARGE && mode !== SET_UP,
  );
  const most = (name: string): number =>
    queries.length === 0
      ? Number.NaN
      : Math.max(...queries.map((one) => figureOf(one, name)));
  const views = of("churn", "views, 1 readers");
  const sockets = results.find(
    ({ place, mode }) => place === "fan-out" && mode === "1000 sockets",
  );
  return [
    atMostMs(`${LARGE}: a new query, the slowest of all`, 50, most("worstMs")),
    atMostMs(
      `${LARGE}: longest block while a query runs, without waits for a core`,
      10,
      most("longestOwnBlockMs"),
    ),
    atMostOf("One change of a VM, 1,000 readers: encodings", 1, {
      value: figureOf(sockets, "encodingsPerChange"),
      text: (value) => value.toFixed(2),
    }),
    atMost(
      "One more reader of the feed against the write to its socket alone",
      1.2,
      figureOf(sockets, "cpuUsPerReader") /
        figureOf(sockets, "plainCpuUsPerReader"),
    ),
    ...(
      [
        ["no client has requested objects", "mirror alone"],
        ["views of all classes kept, no reader", "views, 0 readers"],
      ] as const
    ).map(([when, mode]) =>
      atMostOf(`200 changes a second on A, ${when}: % of a core`, 2, {
        value: figureOf(of("churn", mode), "cpuPercent"),
        text: (value) => value.toFixed(1),
      }),
    ),
    atMostOf("200 changes a second on A: kB/s to each reader", 30, {
      value: figureOf(views, "bytesPerSecondAndReader") / 1000,
      text: (value) => value.toFixed(1),
    }),
    atMostOf("Digests and patches under churn: % of the CPU", 5, {
      value: figureOf(views, "bothPercent"),
      text: (value) => value.toFixed(1),
    }),
    ...["inventory", "xo-server"].map((program) =>
      atMostMs(
        `A: all objects loaded after a restart of ${program}`,
        1000,
        figureOf(of("restart", program), "allThereMs"),
      ),
    ),
    ...memoryTargets(of),
    ...(["records", "views"] as const).map((kind) => cliff(kind, of)),
  ];
}

function memoryTargets(of: Find): Target[] {
  const memory = of("memory", "inventory");
  return [
    atMost(
      "A: memory retained against the JSON bytes",
      1.5,
      figureOf(memory, "retainedBytes") / figureOf(memory, "bytes"),
    ),
    atMostOf("A: bytes of JavaScript heap a record", 250, {
      value: figureOf(memory, "retainedHeapBytesPerObject"),
      text: formatCount,
    }),
    atMost(
      "A: memory retained against that of npm xen-api",
      0.5,
      figureOf(memory, "retainedBytes") /
        figureOf(of("memory", "npm xen-api"), "retainedBytes"),
    ),
  ];
}

/** A cache that is 10 % smaller than the working set may miss little more than 10 % of the reads. */
function cliff(kind: "records" | "views", of: Find): Target {
  const misses = 1 - figureOf(of("second-read", `${kind} 90 %`), "hitShare");
  return atMostOf(
    `Second read of all ${kind}, cache 10 % smaller than the working set: share of misses`,
    0.25,
    { value: misses, text: (value) => value.toFixed(2) },
  );
}

function atMostOf(
  what: string,
  limit: number,
  { value, text }: { value: number; text: (value: number) => string },
): Target {
  const isMeasured = Number.isFinite(value);
  return {
    requirement: `${what}: at most ${limit}`,
    measured: isMeasured ? text(value) : "-",
    met: isMeasured ? value <= limit : undefined,
  };
}
