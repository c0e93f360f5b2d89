import { formatCount, formatMs } from "../harness/format.js";
import { figureOf, type Result } from "../harness/result.js";
import { atMost, atMostMs, type Target } from "../harness/target.js";
import type { Section } from "./api-rows.js";

/** Figures of Corosync, with which small messages are compared. */
const SMALL_PER_SECOND = 138_586;
const LARGE_BYTES_PER_SECOND = 256e6;

/**
 * Share of the time of a full list, for users who may read half of all objects.
 */
const MAX_FOR_RIGHTS = 0.1;
const MAX_BLOCK_MS = 10;

/** Compares the results of a run with the targets of the API. */
export function checkTargets(results: readonly Result[]): Target[] {
  const of = (place: Section, mode?: string): Result | undefined =>
    results.find(
      (one) => one.place === place && (mode === undefined || one.mode === mode),
    );
  const list = of("all-objects");
  const rest = of("rest-list");
  const calls = (size: number) =>
    of("messages", `${size} bytes, calls and responses`);
  const oneWay = (size: number) =>
    of("messages", `${size} bytes, notifications to the server`);
  const small = "Messages of 100 bytes a second over one socket";
  const large = "MB/s of messages of 2,200 bytes over one socket";
  return [
    atMostMs("All objects: first byte, warm", 50, figureOf(list, "firstMs")),
    atMost(
      "All objects: against the same bytes from a file",
      1.3,
      figureOf(list, "ratio"),
    ),
    atMostMs(
      "All objects: longest block, without waits for a core",
      MAX_BLOCK_MS,
      figureOf(list, "longestOwnBlockMs"),
    ),
    atLeastOf(
      "All VMs over REST, with other clients subscribed: lists a second of CPU",
      10,
      {
        value: figureOf(rest, "perCoreSecond"),
        text: (value) => value.toFixed(1),
      },
    ),
    atMostMs(
      "All VMs over REST: longest block, without waits for a core",
      MAX_BLOCK_MS,
      figureOf(rest, "longestOwnBlockMs"),
    ),
    atMostMs(
      "One change in the pool to 1,000 clients: p99",
      100,
      figureOf(of("fan-out", "no throttle"), "p99Ms"),
    ),
    ...(
      [
        ["calls and responses", calls],
        ["one way, to the server", oneWay],
      ] as const
    ).flatMap(([what, line]) => [
      atLeastOf(`${small}, ${what}`, SMALL_PER_SECOND, {
        value: figureOf(line(100), "perSecond"),
        text: formatCount,
      }),
      atLeastOf(`${large}, ${what}`, LARGE_BYTES_PER_SECOND / 1e6, {
        value: figureOf(line(2200), "bytesPerSecond") / 1e6,
        text: formatMs,
      }),
    ]),
    ...results
      .filter(({ place }) => place === "rights")
      .map((line) =>
        atMostOf(
          `Checks of rights for a user who sees half, added time: ${line.mode}`,
          MAX_FOR_RIGHTS,
          figureOf(line, "added"),
        ),
      ),
  ];
}

function atMostOf(what: string, limit: number, value: number): Target {
  const isMeasured = Number.isFinite(value);
  return {
    requirement: `${what}: at most ${limit * 100} %`,
    measured: isMeasured ? `${(value * 100).toFixed(1)} %` : "-",
    met: isMeasured ? value <= limit : undefined,
  };
}

function atLeastOf(
  what: string,
  limit: number,
  { value, text }: { value: number; text: (value: number) => string },
): Target {
  const isMeasured = Number.isFinite(value);
  return {
    requirement: `${what}: at least ${formatCount(limit)}`,
    measured: isMeasured ? text(value) : "-",
    met: isMeasured ? value >= limit : undefined,
  };
}
