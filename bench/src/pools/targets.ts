import { figureOf, type Result } from "../harness/result.js";
import { atLeast, atMost, atMostMs, type Target } from "../harness/target.js";

const MANY = "many";

/** Compares the results of a run with the targets of loading pool A. */
export function checkTargets(results: readonly Result[]): Target[] {
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
      "A, auto: longest own block of the event loop, without waits for a core",
      10,
      figureOf(auto, "longestOwnBlockMs"),
    ),
    atMostMs(
      "A, B, C and 40 pools of profile C at once: longest own block",
      20,
      figureOf(many, "longestOwnBlockMs"),
    ),
    atMost(
      "A, auto: peak RSS above the baseline compared with the bytes of the responses",
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
