import { execFileSync } from "node:child_process";
import { formatMs, formatRatio } from "./format.js";
import { markdownTable } from "./markdown.js";
import { repositoryRoot } from "./repository.js";
import { figureOf, type Report, type Result } from "./result.js";

/**
 * The report that was published at a git ref.
 * @param file path in the repository, such as `docs/benchmarks/pools.json`
 * @throws Error if the ref or the file does not exist
 */
export function reportAt(ref: string, file: string): Report {
  const text = execFileSync("git", ["show", `${ref}:${file}`], {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return JSON.parse(text) as Report;
}

/** A Markdown table of the times of rows that both reports have, with their ratio. Compares only reports of the same machine meaningfully. */
export function comparisonTable(before: Report, after: Report): string {
  const rows = after.results.flatMap((result) => {
    const old = before.results.find((one) => keyOf(one) === keyOf(result));
    const [was, is] = [figureOf(old, "ms"), figureOf(result, "ms")];
    return Number.isFinite(was) && Number.isFinite(is)
      ? [
          [
            result.pool,
            result.mode,
            result.place,
            formatMs(was),
            formatMs(is),
            formatRatio(is / was),
          ],
        ]
      : [];
  });
  return markdownTable(
    [
      { title: "Pool" },
      { title: "Mode" },
      { title: "Place" },
      { title: `ms at ${before.commit}`, align: "right" },
      { title: `ms at ${after.commit}`, align: "right" },
      { title: "", align: "right" },
    ],
    rows,
  );
}

function keyOf({ pool, mode, place }: Result): string {
  return `${pool} ${mode} ${place}`;
}
