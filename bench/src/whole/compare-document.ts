import { formatMs, formatRatio } from "../harness/format.js";
import { markdownTable } from "../harness/markdown.js";
import { figureOf, type Result } from "../harness/result.js";
import { figureRows } from "./figure-rows.js";

interface Compared {
  /** Names of the two commits. */
  readonly names: readonly [before: string, after: string];
  readonly before: Result;
  readonly after: Result;
}

/** The medians of all figures of two commits, measured in turns in one run, and their ratios. */
export function compareTable({ names, before, after }: Compared): string {
  const [was, is] = names;
  const rows = figureRows.flatMap(({ title, name }) => {
    const [old, now] = [figureOf(before, name), figureOf(after, name)];
    return Number.isFinite(old) && Number.isFinite(now)
      ? [[title, formatMs(old), formatMs(now), formatRatio(now / old)]]
      : [];
  });
  return markdownTable(
    [
      { title: `${after.pool}, ${after.mode}` },
      { title: was, align: "right" },
      { title: is, align: "right" },
      { title: "", align: "right" },
    ],
    rows,
  );
}
