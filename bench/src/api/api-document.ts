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
    ...part("All VMs over REST, others live", "rest-list", REST_LIST),
    ...part("One change of a VM to many clients", "fan-out", FAN_OUT),
    ...part("Messages over one socket", "messages", MESSAGES),
    ...part("Rights", "rights", RIGHTS),
    ...part("Connections that say nothing", "idle-sockets", IDLE),
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
  ["no live clients: lists/s", "quietPerSecond", times],
  ["median ms", "medianMs", formatMs],
  ["notifications", "notices", formatCount],
  ["their delay p50 ms", "delayMs", formatMs],
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
  ["sees, of the bytes", "seenShare", percent],
  ["ms", "ms", formatMs],
  ["admin ms", "adminMs", formatMs],
  ["added", "added", percent],
  ["added CPU", "addedCpu", percent],
  ["by byte", "ratioPerByte", formatRatio],
  ["very first ms", "firstMs", formatMs],
  ["very first, CPU by byte", "firstCpuRatioPerByte", formatRatio],
  BLOCK,
];

const IDLE: readonly Column[] = [
  ["RSS MB", "rssBytes", formatMegabytes],
  ["bytes a socket", "bytesPerClient", formatCount],
];

const HOW_TO_READ = [
  "* The server is `bin/xo-server` in a process of its own, fresh in each run, with a probe loaded beside it; pools are the simulator's, clients are other processes, all on this machine over the loopback. Figures are medians of `n` runs, with the least and the greatest; rows take turns, every second round backwards.",
  "* **Own blocks** are gaps of a 1 ms timer on the server's main thread, less what it waited for a core. **CPU** is that of the whole server process.",
  "* The receiver counts frames and looks into none of them, so that the sender is what is measured.",
  '* **All objects**: in each run lists take turns with the same number of bytes read from a file (in the page cache, 256 KiB at a time) and sent in fragments by a server that is the `ws` package alone. "Warm": the list has been asked for before.',
  "* **All VMs over REST**: two requests at a time on two kept connections; meanwhile the pool changes 50 times a second and 100 WebSocket clients receive all of it. Delays are from the change in the simulator's database to the client, the pause of 250 ms between two answers of the pool and the catalog's window of 50 ms included. \"A second of CPU\" divides by the CPU time that the whole server took: what one core would do alone.",
  "* **One change**: the clock starts before `VM.set_name_description` is sent to the pool, and stops when a client has the whole message; every client counts for every change. *No throttle*: the pool answers `event.from` at once, so that it is the time after the throttle's pause, the window of 50 ms in which changes are gathered included. *Throttle of 250 ms*: as shipped, where a pool answers at most so often.",
  "* **Messages**: over one socket, at most 2,048 on their way. *Calls and answers*: `system.getServerVersion`, padded to the size by its id, which the answer brings back; both directions count. *Notifications to the server*: the same without id, so that nothing comes back. *ws alone*: a server that sends back what comes, and nothing else. Sizes are payloads.",
  '* **Rights**: the list of a user who sees about half of two pools, in turn with an admin\'s; "added": what the list takes beyond its part of the bytes, as a part of the time of the admin\'s whole list; "by byte": time a byte against the admin\'s, so that objects that are checked and not shown count too. *Very first*: the rights of this user are not cached yet. Explicit ids are every second VM, template, snapshot, SR and network, with what belongs to them.',
  "* **Connections**: resident memory after a full collection, over what it was with none; each has signed in by token and receives changes.",
].join("\n");
