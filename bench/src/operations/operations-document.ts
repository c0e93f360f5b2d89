import { formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable } from "../harness/target.js";

const SHOWN = 20;

/** `docs/benchmarks/operations.md`, from the results alone. */
export function operationsDocument(report: Report): string {
  const { results } = report;
  const worst = slowestFirst(results);
  const methods = new Set(results.map(({ mode }) => mode)).size;
  const failed = results.filter(({ failure }) => failure !== undefined).length;
  return markdownDocument([
    "# Blocks of the event loop by single calls",
    "Written by `npm run bench -- operations`; do not edit.",
    "All operations of the API are called one after the other at a server with simulated pool A (64 hosts, 5,000 VMs): with the required parameters, with all parameters, and once for each parameter that may be large (lists, objects with any keys, long strings), filled up to its limit or 1 MB. The figure is the longest time that the main thread of the server did nothing else, without waiting for a core; calls above 30 ms are made three times, and the median counts.",
    measuredOn(report),
    targetTable([
      atMostMs(
        "longest block by one call",
        50,
        figureOf(worst[0], "longestOwnBlockMs"),
      ),
    ]),
    `${results.length} calls of ${methods} operations; ${failed} were refused or did not end within 10 s. The longest blocks:`,
    markdownTable(
      [
        { title: "Operation" },
        { title: "Large parameter" },
        { title: "Block, ms", align: "right" },
        { title: "First call", align: "right" },
        { title: "CPU, ms", align: "right" },
        { title: "Answer after, ms", align: "right" },
      ],
      worst
        .slice(0, SHOWN)
        .map((result) => [
          `\`${result.mode}\``,
          result.place,
          formatMs(figureOf(result, "longestOwnBlockMs")),
          formatMs(figureOf(result, "firstBlockMs")),
          formatMs(figureOf(result, "cpuMs")),
          formatMs(figureOf(result, "ms")),
        ]),
    ),
  ]);
}

/** By the longest block of the event loop by the server's own code, descending. */
export function slowestFirst(results: readonly Result[]): readonly Result[] {
  return results.toSorted(
    (a, b) =>
      figureOf(b, "longestOwnBlockMs") - figureOf(a, "longestOwnBlockMs"),
  );
}
