import { DEFAULT_THROTTLE_MS } from "@xo-server/xen-api";
import { formatCount, formatMegabytes, formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";

/** Over the pause, p99 may be later by this much. */
const ALLOWED_OVER_PAUSE_MS = 100;

/** `docs/benchmarks/events.md`, from the results alone. */
export function eventsDocument(report: Report, churn: number): string {
  return markdownDocument([
    "# Following a pool that changes all the time",
    "Written by `npm run bench -- events`; do not edit.",
    `Pool A of the simulator makes ${formatCount(churn)} changes a second; our client follows it with \`event.from\`. Latency is from the change in the pool to the change in the inventory.`,
    measuredOn(report),
    markdownTable(
      [
        { title: "Pause ms" },
        ...[
          "p50 ms",
          "p99 ms",
          "max ms",
          "p99 target",
          "",
          "changes/s seen",
          "responses/s",
          "MB/s",
          "client CPU %",
          "simulator CPU %",
          "longest block ms",
          "n",
        ].map((title) => ({ title, align: "right" as const })),
      ],
      report.results.map(cells),
    ),
    choice(report.results),
    NOTES,
  ]);
}

/** Did p99 stay under the pause and what is allowed beside it? Undefined: not measured. */
export function isInTime(result: Result): boolean | undefined {
  const p99 = figureOf(result, "p99Ms");
  if (!Number.isFinite(p99)) return undefined;
  return p99 < figureOf(result, "throttleMs") + ALLOWED_OVER_PAUSE_MS;
}

function cells(result: Result): string[] {
  const figure = (name: string): number => figureOf(result, name);
  const inTime = isInTime(result);
  if (inTime === undefined)
    return [
      result.mode,
      `not measured: ${result.failure ?? ""}`,
      ...Array.from({ length: 10 }, () => ""),
      "0",
    ];
  return [
    String(figure("throttleMs")),
    formatMs(figure("p50Ms")),
    formatMs(figure("p99Ms")),
    formatMs(figure("maxMs")),
    `< ${figure("throttleMs") + ALLOWED_OVER_PAUSE_MS}`,
    inTime ? "met" : "**missed**",
    formatCount(figure("changesPerSecond")),
    figure("answersPerSecond").toFixed(1),
    formatMegabytes(figure("bytesPerSecond")),
    figure("clientCpuPercent").toFixed(0),
    figure("simulatorCpuPercent").toFixed(0),
    formatMs(figure("longestBlockMs")),
    String(result.runs),
  ];
}

/** Compares the default pause with no pause. */
function choice(results: readonly Result[]): string | undefined {
  const at = (pauseMs: number): Result | undefined =>
    results.find((result) => figureOf(result, "throttleMs") === pauseMs);
  const [own, none] = [at(DEFAULT_THROTTLE_MS), at(0)];
  if (own === undefined || none === undefined) return undefined;
  const against = (name: string, digits: number): string =>
    `${figureOf(own, name).toFixed(digits)} instead of ${figureOf(none, name).toFixed(digits)}`;
  return (
    `The client's default pause is ${DEFAULT_THROTTLE_MS} ms: ${against("answersPerSecond", 1)} responses a second, ` +
    `${against("clientCpuPercent", 0)} % of a core in the client and ${against("simulatorCpuPercent", 0)} % in the pool, ` +
    `for a p99 of ${formatMs(figureOf(own, "p99Ms"))} instead of ${formatMs(figureOf(none, "p99Ms"))} ms.`
  );
}

const NOTES = [
  "* The simulator writes the time of a change into the changed VM; both processes use the clock of one machine. XAPI merges the changes of an object between two responses into one event, so that fewer changes are received than made when the pause is long.",
  "* XAPI waits 50 ms before it responds and checks for changes every 50 ms: no client can be faster.",
  "* CPU is in percent of one core, worker threads included. Medians of `n` fresh processes on one simulator, pauses in ascending and descending order in turn.",
].join("\n");
