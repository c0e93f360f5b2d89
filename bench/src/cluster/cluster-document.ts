import { formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable, type Target } from "../harness/target.js";
import { LEASE_MS } from "./server-group.js";

/** `docs/benchmarks/cluster.md`, from the results alone. */
export function clusterDocument(report: Report): string {
  const { results } = report;
  return markdownDocument([
    "# Several servers",
    "Written by `npm run bench -- cluster`; do not edit.",
    `Three servers on one PostgreSQL database, over simulated pools with a load balancer each (${LEASE_MS / 1_000} s leases). Servers, simulator, PostgreSQL and clients share the machine. Owners are read from the database, so that a time includes up to one reading.`,
    measuredOn(report),
    targetTable(targetsOf(report)),
    markdownTable(
      [
        { title: "" },
        ...results.map(({ pool }) => ({
          title: pool,
          align: "right" as const,
        })),
      ],
      rows.map(([title, cell]) => [title, ...results.map(cell)]),
    ),
    "Planned hand-over: from SIGTERM until other servers own all that the server had; clients stay connected for `http.drainMs` more. Killed: from SIGKILL until the same, and until a live query of each client of it is complete at another server. Change: from the call, at the pool itself or at one server, to the live query of a client; medians. Each server follows each pool by itself. A server asks for events at once after its own calls, others after `xapi.throttleMs`. Renewals: for each server, with nothing else to do; the log (WAL) is that of the whole database.",
    ...results.flatMap(({ failure }) => failure ?? []),
  ]);
}

export function targetsOf({ results }: Report): Target[] {
  const [result] = results;
  return [
    atMostMs("Planned hand-over", 1_000, figureOf(result, "handOverMs")),
    atMostMs(
      "Owned again after the owner was killed",
      5_000,
      figureOf(result, "takeOverMs"),
    ),
    atMostMs(
      "Clients of the killed server live again",
      3_000,
      figureOf(result, "liveMs"),
    ),
    atMostMs(
      "A change at a pool to a client of a second server, later than to one of the first",
      30,
      figureOf(result, "otherPoolChangeMs") - figureOf(result, "poolChangeMs"),
    ),
  ];
}

const number =
  (name: string, digits = 0) =>
  (result: Result) =>
    figureOf(result, name).toFixed(digits);
const ms = (name: string) => (result: Result) =>
  formatMs(figureOf(result, name));

const rows: readonly (readonly [string, (result: Result) => string])[] = [
  ["leases of the server that is stopped", number("handedOver")],
  ["planned hand-over, ms", ms("handOverMs")],
  ["leases of the server that is killed", number("takenOver")],
  ["owned again, ms", ms("takeOverMs")],
  ["clients live again, ms", ms("liveMs")],
  ["change at a pool to a client, ms", ms("poolChangeMs")],
  ["the same, of a second server, ms", ms("otherPoolChangeMs")],
  ["change by a server to a client of it, ms", ms("ownChangeMs")],
  ["the same, to a client of another server, ms", ms("changeMs")],
  [
    "rows of leases and heartbeats updated, a second",
    number("rowUpdatesPerSecond", 1),
  ],
  ["log written, bytes a second", number("walBytesPerSecond")],
  ["runs", ({ runs }) => String(runs)],
];
