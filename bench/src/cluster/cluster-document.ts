import { formatMegabytes, formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import {
  atMost,
  atMostMs,
  targetTable,
  type Target,
} from "../harness/target.js";
import type { RowName } from "./cluster-rows.js";
import { LEASE_MS } from "./server-group.js";

/** `docs/benchmarks/cluster.md`, from the results alone. */
export function clusterDocument(report: Report): string {
  const { results } = report;
  return markdownDocument([
    "# Several servers",
    "Written by `npm run bench -- cluster`; do not edit.",
    `Three servers on one PostgreSQL database, over simulated pools with a load balancer each (${LEASE_MS / 1_000} s leases). Servers, simulator, PostgreSQL and clients share the machine. Owners are read from the database repeatedly, so that a time includes up to one interval between two reads.`,
    measuredOn(report),
    targetTable(targetsOf(report)),
    ...results.map(tableOf),
    "Planned hand-over: from SIGTERM until other servers own all leases of the server; its clients stay connected for another `http.drainMs`. Killed: from SIGKILL until the same, and until a live query of each of its clients is complete at another server; in repeated kills always the server with the most leases, which is started again. Change: from the call, directly to the pool or through one server, to the live query of a client; medians. One server requests the events of a pool and sends them to the others ([decision](../decisions/055-events-between-servers.md)); for a call of its own, a server requests them at once, otherwise after `xapi.throttleMs`. Renewals: for each server, without other work; the log (WAL) is that of the whole database; CPU of all processes of PostgreSQL, and what they use while the pools have no owners. Leases: the same with participants without pools, so that nothing else uses PostgreSQL; CPU times do not depend on other processes of the machine. Many clients: each subscribes to all changes of all pools, a third of them at each server; the time is from the change in the pool. Memory: resident, half a minute after the last server has loaded all pools. Each server mirrors all pools ([decision](../decisions/040-each-server-reads-the-pools.md)), so that several need as much as one each.",
    ...results.flatMap(({ failure, mode }) =>
      failure === undefined ? [] : [`${mode}: ${failure}`],
    ),
  ]);
}

/** Limits of the hand-over of leases and of the take-over after a kill, in ms. */
export function targetsOf({ results }: Report): Target[] {
  const value = (row: RowName, name: string) =>
    figureOf(
      results.find(({ mode }) => mode === row),
      name,
    );
  return [
    atMostMs("Planned hand-over", 1_000, value("servers", "handOverMs")),
    atMostMs(
      "Owned again after the owner was killed, p99 of 50 kills",
      5_000,
      value("kills", "takeOverP99Ms"),
    ),
    atMostMs(
      "Clients of the killed server up to date again, p99 of 50 kills",
      3_000,
      value("kills", "liveP99Ms"),
    ),
    atMostMs(
      "Delay of a change in a pool to clients of a second server beyond that to clients of the first, p99",
      30,
      value("churn", "otherP99Ms") - value("churn", "ownP99Ms"),
    ),
    atMost(
      "PostgreSQL renews the leases of 1,000 pools, in cores",
      0.03,
      value("leases", "postgresPercent") / 100,
    ),
    atMostMs(
      "A server renews its leases, CPU time of the event loop",
      5,
      value("leases", "renewalCpuMs"),
    ),
    atMost(
      "Memory of each of three servers, beside that of one",
      0.5,
      value("fleet", "mostBytes") / value("fleet", "oneBytes"),
    ),
  ];
}

type Cell = (result: Result) => string;

const number =
  (name: string, digits = 0): Cell =>
  (result) =>
    figureOf(result, name).toFixed(digits);
const ms =
  (name: string): Cell =>
  (result) =>
    formatMs(figureOf(result, name));
const megabytes =
  (name: string): Cell =>
  (result) =>
    formatMegabytes(figureOf(result, name));

const RENEWALS: readonly (readonly [string, Cell])[] = [
  [
    "rows of leases and heartbeats updated, a second",
    number("rowUpdatesPerSecond", 1),
  ],
  ["log written, bytes a second", number("walBytesPerSecond")],
  ["CPU of PostgreSQL, % of a core", number("postgresPercent", 2)],
];

const ROWS: Readonly<Record<string, readonly (readonly [string, Cell])[]>> = {
  servers: [
    ["leases of the server that is stopped", number("handedOver")],
    ["planned hand-over, ms", ms("handOverMs")],
    ["leases of the server that is killed", number("takenOver")],
    ["owned again, ms", ms("takeOverMs")],
    ["clients up to date again, ms", ms("liveMs")],
    ["change at a pool to a client, ms", ms("poolChangeMs")],
    ["the same, of a second server, ms", ms("otherPoolChangeMs")],
    ["change by a server to a client of it, ms", ms("ownChangeMs")],
    ["the same, to a client of another server, ms", ms("changeMs")],
    ...RENEWALS,
  ],
  kills: [
    ["kills", number("kills")],
    ["owned again, median, ms", ms("takeOverMs")],
    ["owned again, p99, ms", ms("takeOverP99Ms")],
    ["clients up to date again, median, ms", ms("liveMs")],
    ["clients up to date again, p99, ms", ms("liveP99Ms")],
  ],
  churn: [
    ["clients", number("clients")],
    ["changes", number("changes")],
    ["to clients of the first server, median, ms", ms("ownP50Ms")],
    ["the same, p99, ms", ms("ownP99Ms")],
    ["to clients of the slower of the other two, median, ms", ms("otherP50Ms")],
    ["the same, p99, ms", ms("otherP99Ms")],
  ],
  renewals: [
    ...RENEWALS,
    ["the same without owners of pools", number("restPercent", 2)],
  ],
  leases: [
    ["leases", number("leases")],
    ["CPU of PostgreSQL, % of a core", number("postgresPercent", 2)],
    ["the same without leases", number("restPercent", 2)],
    [
      "CPU time of the event loop for a renewal of a third of them, ms",
      number("renewalCpuMs", 2),
    ],
  ],
  fleet: [
    ["one server, MB", megabytes("oneBytes")],
    ["the largest of three, MB", megabytes("mostBytes")],
  ],
};

function tableOf(result: Result): string {
  const { mode, pool, runs } = result;
  const cells: readonly (readonly [string, Cell])[] = [
    ...(ROWS[mode] ?? []),
    ["runs", () => String(runs)],
  ];
  return markdownTable(
    [{ title: mode }, { title: pool, align: "right" }],
    cells.map(([title, cell]) => [title, cell(result)]),
  );
}
