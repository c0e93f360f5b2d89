import cliTruncate from "cli-truncate";
import stringWidth from "string-width";
import type { Cell } from "./cell.js";

const GAP = 2;
/** Narrower than this a column tells nothing. */
const MIN_WIDTH = 6;
/** So much of a column is worth more than another column. */
const FAIR_WIDTH = 14;

export interface Column {
  readonly title: string;
  /** Loses its end only when all others are at their narrowest: ids. */
  readonly isKept?: boolean;
  /** Is left out, last ones first, where there is no room for all. */
  readonly isOptional?: boolean;
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
  const shown = columns === undefined ? heads : choose(heads, wanted, columns);
  const places = shown.map((head) => heads.indexOf(head));
  const natural = places.map((at) => wanted[at]!);
  const widths = columns === undefined ? natural : fit(shown, natural, columns);
  const head = heads.map(({ title }, at) => ({
    text: title,
    isNumber: rows.length > 0 && rows.every((row) => row[at]!.isNumber),
  }));
  return [head, ...rows].map((row) =>
    places
      .map((from, at) => pad(row[from]!, widths[at]!))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

function choose(
  heads: readonly Column[],
  wanted: readonly number[],
  columns: number,
): readonly Column[] {
  const least = ({ isKept }: Column, at: number): number =>
    isKept === true ? wanted[at]! : Math.min(wanted[at]!, FAIR_WIDTH);
  const needed = heads.reduce(
    (sum, head, at) => sum + GAP + least(head, at),
    -GAP,
  );
  const last = heads.findLastIndex(({ isOptional }) => isOptional === true);
  return needed <= columns || last < 0
    ? heads
    : choose(heads.toSpliced(last, 1), wanted.toSpliced(last, 1), columns);
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
