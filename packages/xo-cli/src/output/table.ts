import measureText from "fast-string-truncated-width";
import type { Cell } from "./cell.js";

const GAP = 2;
/** Minimum width of a column. */
const MIN_WIDTH = 6;
/** Optional columns are omitted before others become narrower than this. */
const FAIR_WIDTH = 14;
/** Width of a column where lines are unlimited; a longer text widens its own line only. */
const UNLIMITED_WIDTH = 100;

export interface Column {
  readonly title: string;
  /** Truncated only after all other columns have their minimum width: ids. */
  readonly isKept?: boolean;
  /** Omitted if the line is too narrow, last ones first. */
  readonly isOptional?: boolean;
}

/**
 * Formats a table with a header line.
 * @param columns characters per line; undefined: unlimited
 */
export function toTable(
  heads: readonly Column[],
  rows: readonly (readonly Cell[])[],
  columns: number | undefined,
): string[] {
  const requested = heads.map(({ title }, at) =>
    rows.reduce(
      (widest, row) => Math.max(widest, stringWidth(row[at]!.text)),
      stringWidth(title),
    ),
  );
  const shown =
    columns === undefined ? heads : choose(heads, requested, columns);
  const places = shown.map((head) => heads.indexOf(head));
  const natural = places.map((at) => requested[at]!);
  const isUnlimited = columns === undefined;
  const widths = isUnlimited
    ? natural.map((width) => Math.min(width, UNLIMITED_WIDTH))
    : fit(shown, natural, columns);
  const head = heads.map(({ title }, at) => ({
    text: title,
    isNumber: rows.length > 0 && rows.every((row) => row[at]!.isNumber),
  }));
  return [head, ...rows].map((row) =>
    places
      .map((from, at) => pad(row[from]!, widths[at]!, isUnlimited))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

function choose(
  heads: readonly Column[],
  requested: readonly number[],
  columns: number,
): readonly Column[] {
  const least = ({ isKept }: Column, at: number): number =>
    isKept === true ? requested[at]! : Math.min(requested[at]!, FAIR_WIDTH);
  const needed = heads.reduce(
    (sum, head, at) => sum + GAP + least(head, at),
    -GAP,
  );
  const last = heads.findLastIndex(({ isOptional }) => isOptional === true);
  return needed <= columns || last < 0
    ? heads
    : choose(heads.toSpliced(last, 1), requested.toSpliced(last, 1), columns);
}

/** Shrinks the widest columns first. */
function fit(
  heads: readonly Column[],
  requested: readonly number[],
  columns: number,
): number[] {
  const widths = [...requested];
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

function pad(
  { text, isNumber }: Cell,
  width: number,
  isUnlimited: boolean,
): string {
  const cut = isUnlimited ? text : truncate(text, width);
  const space = " ".repeat(Math.max(0, width - stringWidth(cut)));
  return isNumber ? space + cut : cut + space;
}

/** Characters that a terminal needs for the text: wide ones count twice, escape sequences not at all. */
function stringWidth(text: string): number {
  return measureText(text).width;
}

function truncate(text: string, width: number): string {
  const { index, ellipsed, truncated } = measureText(text, {
    limit: width,
    ellipsis: "…",
  });
  return truncated ? text.slice(0, index) + (ellipsed ? "…" : "") : text;
}
