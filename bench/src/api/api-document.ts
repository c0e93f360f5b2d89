import {
  formatCount,
  formatMegabytes,
  formatMs,
  formatRatio,
} from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { targetTable } from "../harness/target.js";
import type { Section } from "./api-rows.js";
import { checkTargets } from "./api-targets.js";

/** `docs/benchmarks/api.md`, from the results alone. */
export function apiDocument(report: Report): string {
  const { results } = report;
  const part = (
    title: string,
    section: Section,
    columns: readonly Column[],
  ): string[] => {
    const lines = results.filter(({ place }) => place === section);
    const about = lines[0]?.pool;
    return about === undefined
      ? []
      : [`## ${title}: ${about}`, table(lines, columns)];
  };
  return markdownDocument([
    "# The API: lists, notifications, messages, rights, connections",
    "Written by `npm run bench -- api`; do not edit.",
    measuredOn(report),
    "## Targets",
    targetTable(checkTargets(results)),
    ...part("All objects over one WebSocket", "all-objects", ALL_OBJECTS),
    ...part(
      "All VMs over REST, with other clients subscribed",
      "rest-list",
      REST_LIST,
    ),
    ...part("One change of a VM to many clients", "fan-out", FAN_OUT),
    ...part("Messages over one socket", "messages", MESSAGES),
    ...part("Rights", "rights", RIGHTS),
    ...part("Idle connections", "idle-sockets", IDLE),
    "## How to read it",
    HOW_TO_READ,
  ]);
}

type Column = readonly [
  title: string,
  name: string,
  format: (value: number) => string,
];

function table(lines: readonly Result[], columns: readonly Column[]): string {
  return markdownTable(
    [
      { title: "" },
      ...columns.map(([title]) => ({ title, align: "right" as const })),
      { title: "n", align: "right" },
    ],
    lines.map((line) => [
      line.mode,
      ...columns.map(([, name, format], i) =>
        line.runs === 0 && i === 0
          ? `not measured: ${line.failure ?? ""}`
          : withSpread(line, name, format),
      ),
      String(line.runs),
    ]),
  );
}

/** The median, and between which values the runs lay where there were several. */
function withSpread(
  line: Result,
  name: string,
  format: (value: number) => string,
): string {
  const text = format(figureOf(line, name));
  const [least, most] = line.spread[name] ?? [Number.NaN, Number.NaN];
  const range = [format(least), format(most)];
  return line.runs < 2 || range[0] === range[1]
    ? text
    : `${text} (${range.join(" to ")})`;
}

const times = (value: number): string => value.toFixed(1);
const percent = (value: number): string => `${(value * 100).toFixed(0)} %`;
const BLOCK: Column = [
  "longest own block ms",
  "longestOwnBlockMs",
  formatMs,
] as const;

const ALL_OBJECTS: readonly Column[] = [
  ["objects", "objects", formatCount],
  ["MB", "bytes", formatMegabytes],
  ["first byte ms", "firstMs", formatMs],
  ["all ms", "totalMs", formatMs],
  ["file ms", "fileMs", formatMs],
  ["ratio", "ratio", formatRatio],
  ["CPU ms", "cpuMs", formatMs],
  ["CPU ratio", "cpuRatio", formatRatio],
  BLOCK,
];

const REST_LIST: readonly Column[] = [
  ["MB", "bytes", formatMegabytes],
  ["lists/s", "perSecond", times],
  ["lists a second of CPU", "perCoreSecond", times],
  ["without subscribers: lists/s", "quietPerSecond", times],
  ["median ms", "medianMs", formatMs],
  ["notifications", "notices", formatCount],
  ["delay p50 ms", "delayMs", formatMs],
  ["p99 ms", "delayP99Ms", formatMs],
  BLOCK,
];

const FAN_OUT: readonly Column[] = [
  ["clients", "clients", formatCount],
  ["p50 ms", "p50Ms", formatMs],
  ["p99 ms", "p99Ms", formatMs],
  ["slowest ms", "maxMs", formatMs],
  [
    "notifications a change and client",
    "notificationsPerChange",
    (value) => value.toFixed(2),
  ],
  ["CPU us a notification", "cpuUsPerNotice", formatMs],
  BLOCK,
];

const MESSAGES: readonly Column[] = [
  ["messages/s", "perSecond", formatCount],
  ["MB/s", "bytesPerSecond", formatMegabytes],
  ["server CPU us a message", "serverCpuUs", formatMs],
  ["client CPU us a message", "clientCpuUs", formatMs],
  BLOCK,
];

const RIGHTS: readonly Column[] = [
  ["visible part of the bytes", "seenShare", percent],
  ["ms", "ms", formatMs],
  ["admin ms", "adminMs", formatMs],
  ["added", "added", percent],
  ["added CPU", "addedCpu", percent],
  ["time a byte, against admin", "ratioPerByte", formatRatio],
  ["first call ms", "firstMs", formatMs],
  [
    "first call, CPU a byte, against admin",
    "firstCpuRatioPerByte",
    formatRatio,
  ],
  BLOCK,
];

const IDLE: readonly Column[] = [
  ["RSS MB", "rssBytes", formatMegabytes],
  ["bytes a socket", "bytesPerClient", formatCount],
];

const HOW_TO_READ = [
  "* The server is `bin/xo-server` in a new process for each run, with a probe loaded; pools are simulated, clients are other processes, all on this machine over the loopback interface. Figures are medians of `n` runs, with minimum and maximum; rows are measured in turn, in reverse order every second round.",
  "* **Own blocks** are gaps of a 1 ms timer on the server's main thread, less the time in which it waited for a core. **CPU** is that of the whole server process.",
  "* The receiving client counts frames without parsing them, so that only the sender is measured.",
  '* **All objects**: in each run, lists alternate with the same number of bytes read from a file (in the page cache, 256 KiB at a time) and sent in fragments by a server that only uses the `ws` package. "Warm": the list has been requested before.',
  "* **All VMs over REST**: two concurrent requests on two persistent connections; meanwhile the pool changes 50 times a second and 100 WebSocket clients receive all of it. Delays are from the change in the simulator's database to the client, including the pause of 250 ms between two responses of the pool and the catalog's window of 50 ms. \"A second of CPU\": divided by the CPU time of the whole server.",
  "* **One change**: the clock starts before `VM.set_name_description` is sent to the pool, and stops when a client has the whole message; each pair of client and change is one sample. *No throttle*: the pool answers `event.from` at once; the time includes the window of 50 ms in which changes are collected. *Throttle of 250 ms*: the default, with at most one response of the pool in that time.",
  "* **Messages**: over one socket, at most 2,048 in flight. *Calls and responses*: `system.getServerVersion`, padded to the size by its id, which the response repeats; both directions count. *Notifications to the server*: the same without id, so that there is no response. *ws alone*: an echo server. Sizes are payloads.",
  '* **Rights**: the list of a user who sees about half of two pools, in turn with the list of an admin; "added": time beyond the share of the bytes, relative to the time of the admin\'s whole list; "time a byte, against admin": includes the cost of objects that are checked and not shown. *First call*: the rights of this user are not cached yet. Explicit ids are every second VM, template, snapshot, SR and network, with what belongs to them.',
  "* **Connections**: growth of resident memory over that without connections, after full garbage collections; each connection has signed in by token and is subscribed to changes.",
].join("\n");
