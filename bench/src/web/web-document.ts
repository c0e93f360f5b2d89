import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable, type Target } from "../harness/target.js";

/** Of the pools, as the server is configured without a word about it. */
const THROTTLE_MS = 300;
const MB = 1e6;

/** `docs/benchmarks/web.md`, from the results alone. */
export function webDocument(report: Report): string {
  return markdownDocument([
    "# The page",
    "Written by `npm run bench -- web`; do not edit.",
    "The list of all VMs in a headless Chromium of 1440 x 900 pixels without a graphics processor; the server, the simulated pools and the browser share the machine. 5,000 VMs are those of pool A, 100,000 those of a fleet of 100 pools.",
    measuredOn(report),
    targetTable(report.results.flatMap(webTargets)),
    markdownTable(
      [
        { title: "" },
        ...report.results.map(({ mode }) => ({
          title: `${mode} VMs`,
          align: "right" as const,
        })),
      ],
      lines.map(([title, cell]) => [title, ...report.results.map(cell)]),
    ),
    ...report.results
      .filter(({ failure }) => failure !== undefined)
      .map(({ mode, failure }) => `Not measured: ${mode} VMs: ${failure}.`),
    "Medians of the runs, with minimum and maximum in brackets. Warm: the browser has the page's files, the server its columns; from the key that sends the password to the frame after the one with the rows. A key: from its press to other rows. A change: from the call that renames a VM in the pool to its name on the page; including the pause of 300 ms between two responses of the pool. Server just restarted: a signed-in user opens the list as soon as the server listens; its data are those of the previous run. The heap is what the page's scripts hold after a full garbage collection, with the list open and the pools changing; its growth is the slope over the run, extrapolated to an hour.",
  ]);
}

/** Limits of the page: times in ms, sizes in bytes. */
function webTargets(result: Result): Target[] {
  const of = (name: string) => figureOf(result, name);
  const where = `${result.mode} VMs`;
  return [
    atMostMs(`${where}: sign-in to list, warm`, 1_000, of("signInMs")),
    atMostMs(
      `${where}: visit to list, server just restarted`,
      result.mode === "100,000" ? 1_500 : 1_000,
      of("restartMs"),
    ),
    atMostSize(
      `${where}: JavaScript before the first view`,
      200e3,
      of("scriptBytes"),
    ),
    {
      requirement: `${where}: scrolling at 60 frames/s`,
      measured: Number.isFinite(of("framesPerSecond"))
        ? `${of("framesPerSecond").toFixed(0)} /s`
        : "-",
      met: known(of("framesPerSecond"), (value) => value >= 59),
    },
    atMostMs(`${where}: key in the filter to new rows`, 100, of("keyMs")),
    atMostMs(`${where}: change to row`, THROTTLE_MS + 150, of("changeMs")),
    atMostSize(`${where}: heap under churn`, 150 * MB, of("mostHeapBytes")),
  ];
}

function atMostSize(what: string, limit: number, value: number): Target {
  const text = (bytes: number) =>
    bytes < MB
      ? `${(bytes / 1e3).toFixed(0)} kB`
      : `${(bytes / MB).toFixed(0)} MB`;
  return {
    requirement: `${what}: at most ${text(limit)}`,
    measured: Number.isFinite(value) ? text(value) : "-",
    met: known(value, (bytes) => bytes <= limit),
  };
}

function known(
  value: number,
  isMet: (value: number) => boolean,
): boolean | undefined {
  return Number.isFinite(value) ? isMet(value) : undefined;
}

type Cell = (result: Result) => string;

const fixed =
  (name: string, digits: number, divisor = 1): Cell =>
  (result) => {
    const [least, most] = result.spread[name] ?? [NaN, NaN];
    const middle = figureOf(result, name);
    if (!Number.isFinite(middle)) return "-";
    const text = (value: number) => (value / divisor).toFixed(digits);
    return least === most
      ? text(middle)
      : `${text(middle)} (${text(least)}..${text(most)})`;
  };

const lines: readonly (readonly [string, Cell])[] = [
  ["JavaScript before the first view, kB gzip", fixed("scriptBytes", 0, 1e3)],
  ["sign-in to list, the first ever, ms", fixed("coldMs", 0)],
  ["sign-in to list, warm, ms", fixed("signInMs", 0)],
  ["the slowest of them, ms", fixed("slowestSignInMs", 0)],
  ["reload to list, ms", fixed("reloadMs", 0)],
  ["visit to list, server just restarted, ms", fixed("restartMs", 0)],
  ["frames/s while scrolling 24,000 pixels/s", fixed("framesPerSecond", 1)],
  ["95th percentile of a frame, ms", fixed("frameP95Ms", 1)],
  ["longest frame, ms", fixed("longestFrameMs", 1)],
  ["tasks over 50 ms meanwhile", fixed("longTasks", 0)],
  ["key to new rows, ms", fixed("keyMs", 0)],
  ["95th percentile, ms", fixed("keyP95Ms", 0)],
  ["change in the pool to row, ms", fixed("changeMs", 0)],
  ["95th percentile, ms", fixed("changeP95Ms", 0)],
  ["churn of 500 changes/s, s", fixed("churnSeconds", 0)],
  ["heap in the end, MB", fixed("heapBytes", 1, MB)],
  ["highest of all samples, MB", fixed("mostHeapBytes", 1, MB)],
  ["growth, MB an hour", fixed("heapBytesPerHour", 1, MB)],
  ["frames/s while scrolling in it", fixed("churnFramesPerSecond", 1)],
  ["tasks over 50 ms meanwhile", fixed("churnLongTasks", 0)],
];
