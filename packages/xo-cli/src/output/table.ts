import cliTruncate from "cli-truncate";
import stringWidth from "string-width";
import type { Cell } from "./cell.js";

const GAP = 2;
/** Narrower than this a column tells nothing. */
const MIN_WIDTH = 6;

export interface Column {
  readonly title: string;
  /** Loses its end only when all others are at their narrowest: ids. */
  readonly isKept?: boolean;
}

/**
 * Lines of a table with a head.
 * @param columns characters there are in a line; undefined: as many as it takes
 */
export function toTable(
  heads: readonly Column[],
  rows: readonly (readonly Cell[])[],
  columns: number | undefined,
): string[] {
  const wanted = heads.map(({ title }, at) =>
    rows.reduce(
      (widest, row) => Math.max(widest, stringWidth(row[at]!.text)),
      stringWidth(title),
    ),
  );
  const widths = columns === undefined ? wanted : fit(heads, wanted, columns);
  const head = heads.map(({ title }, at) => ({
    text: title,
    isNumber: rows.length > 0 && rows.every((row) => row[at]!.isNumber),
  }));
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => pad(cell, widths[at]!))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

/** Takes from the widest first. */
function fit(
  heads: readonly Column[],
  wanted: readonly number[],
  columns: number,
): number[] {
  const widths = [...wanted];
  let over =
    widths.reduce((sum, width) => sum + width, 0) +
    GAP * (widths.length - 1) -
    columns;
  for (const mayShrink of [(at: number) => !heads[at]!.isKept, () => true])
    while (over > 0) {
      const widest = widths.reduce(
        (best, width, at) =>
          mayShrink(at) &&
          width > MIN_WIDTH &&
          (best < 0 || width > widths[best]!)
            ? at
            : best,
        -1,
      );
      if (widest < 0) break;
      widths[widest]!--;
      over--;
    }
  return widths;
}

function pad({ text, isNumber }: Cell, width: number): string {
  const cut = stringWidth(text) > width ? cliTruncate(text, width) : text;
  const space = " ".repeat(Math.max(0, width - stringWidth(cut)));
  return isNumber ? space + cut : cut + space;
}
