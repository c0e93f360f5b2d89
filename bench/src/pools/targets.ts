import { figureOf, type Result } from "../harness/result.js";
import { formatMs, formatRatio } from "../harness/format.js";

/** One promise of the product, held against the medians. */
export interface Target {
  readonly promise: string;
  /** As people read it. */
  readonly measured: string;
  /** Undefined: this run did not measure it. */
  readonly met: boolean | undefined;
}

const MANY = "many";

/** What loading pool A must reach, computed from the results of one run. */
export function judgeTargets(results: readonly Result[]): Target[] {
  const of = (mode: string, place?: string): Result | undefined =>
    results.find(
      (result) =>
        result.pool === "A" &&
        result.mode === mode &&
        (place === undefined || result.place === place),
    );
  const auto = of("auto");
  const ms = (result: Result | undefined): number => figureOf(result, "ms");
  const jsonBytes = figureOf(of("download"), "bytes");
  const many = results.find((result) => result.pool === MANY);
  return [
    atMost(
      "A, auto: time against downloading the same bytes (node:http)",
      1.5,
      ms(auto) / ms(of("download")),
    ),
    atLeast(
      "A, auto: faster than npm xen-api on json-rpc",
      5,
      ms(of("peer:xen-api:json-rpc")) / ms(auto),
    ),
    atLeast(
      "A, auto: faster than the plain xmlrpc path on the main thread",
      50,
      ms(of("xml-rpc:xmlrpc", "main")) / ms(auto),
    ),
    atMostMs(
      "A, auto: longest event-loop block",
      10,
      figureOf(auto, "longestBlockMs"),
    ),
    atMostMs(
      "A, B, C and 40 pools of profile C at once: longest event-loop block",
      20,
      figureOf(many, "longestBlockMs"),
    ),
    atMost(
      "A, auto: peak RSS above the baseline against the bytes of the answers",
      2,
      (figureOf(auto, "peakRssBytes") - figureOf(auto, "baselineRssBytes")) /
        jsonBytes,
    ),
    atMost(
      "A, auto: memory retained against the JSON bytes",
      1.5,
      figureOf(auto, "retainedBytes") / jsonBytes,
    ),
  ];
}

/** One line for the table: met, or missed by how much. */
export function verdictOf({ met }: Target): string {
  if (met === undefined) return "not measured";
  return met ? "met" : "**missed**";
}

function atMost(what: string, limit: number, value: number): Target {
  return {
    promise: `${what}: at most ${limit}x`,
    measured: formatRatio(value),
    met: Number.isFinite(value) ? value <= limit : undefined,
  };
}

function atLeast(what: string, limit: number, value: number): Target {
  return {
    promise: `${what}: at least ${limit}x`,
    measured: formatRatio(value),
    met: Number.isFinite(value) ? value >= limit : undefined,
  };
}

function atMostMs(what: string, limitMs: number, valueMs: number): Target {
  return {
    promise: `${what}: at most ${limitMs} ms`,
    measured: Number.isFinite(valueMs) ? `${formatMs(valueMs)} ms` : "-",
    met: Number.isFinite(valueMs) ? valueMs <= limitMs : undefined,
  };
}
