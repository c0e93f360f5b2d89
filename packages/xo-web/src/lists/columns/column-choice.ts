import { isObject, type Json } from "@xo-server/kit";
import type { Column } from "./column.js";

/** The user's choice of columns for a type. */
export interface ColumnChoice {
  /** Ids of the columns in order; undefined: the default ones. */
  readonly shown?: readonly string[];
  /** Widths in rem, by id. */
  readonly widths: Readonly<Record<string, number>>;
}

export const widthLimits = { least: 3, most: 60 };
export const noChoice: ColumnChoice = { widths: {} };

/** Parses the stored choice; invalid parts are ignored. */
export function readChoice(remembered: string | null): ColumnChoice {
  let stored: Json;
  try {
    stored = JSON.parse(remembered ?? "{}") as Json;
  } catch {
    return noChoice;
  }
  if (!isObject(stored)) return noChoice;
  const { shown, widths } = stored;
  const entries = Object.entries(isObject(widths) ? widths : {});
  return {
    ...(Array.isArray(shown) ? { shown: shown.map(String) } : {}),
    widths: Object.fromEntries(
      entries.flatMap(([id, width]) =>
        typeof width === "number" ? [[id, boundWidth(width)]] : [],
      ),
    ),
  };
}

/** What the default columns depend on. */
interface ColumnDefaults {
  /** Whether there is more than one pool. */
  readonly ofSeveral?: boolean;
  /** Whether the window has place for more columns. */
  readonly isWide?: boolean;
}

/**
 * The columns that are shown, in their order; at least one.
 */
export function shownColumns(
  all: readonly Column[],
  ids: readonly string[] | undefined,
  { ofSeveral = false, isWide = true }: ColumnDefaults = {},
): readonly Column[] {
  const chosen = (ids ?? []).flatMap(
    (id) => all.find((column) => column.id === id) ?? [],
  );
  const defaults = all.filter(
    ({ isShown, isShownOfSeveral, isOmittedOfSeveral, isShownIfWide }) => {
      const isUsual =
        isShown === true || (ofSeveral && isShownOfSeveral === true);
      const isForWide =
        isShownIfWide === true || (ofSeveral && isOmittedOfSeveral === true);
      return isUsual && (isWide || !isForWide);
    },
  );
  return chosen.length > 0 ? [...new Set(chosen)] : defaults;
}

/** In rem, to a quarter. */
export function boundWidth(width: number): number {
  const { least, most } = widthLimits;
  return Math.min(Math.max(Math.round(width * 4) / 4, least), most);
}

/**
 * Tracks of the CSS grid: columns that grow share the remaining width; if none
 * does, it stays empty at the end.
 */
export function trackList(
  columns: readonly Column[],
  widthOf: (column: Column) => number,
): string {
  const tracks = columns.map((column) => {
    const width = `${widthOf(column)}rem`;
    return column.grows === true ? `minmax(${width}, 1fr)` : width;
  });
  const hasGrowing = columns.some(({ grows }) => grows);
  return [...tracks, ...(hasGrowing ? [] : ["minmax(0, 1fr)"])].join(" ");
}
