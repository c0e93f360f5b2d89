import { tokensOf, type FilterToken } from "./tokens.js";

/** A part of a filter text with one style. */
interface Mark {
  readonly text: string;
  readonly kind: FilterToken["kind"];
  /** Something is missing here, or is unexpected. */
  readonly isWrong: boolean;
}

/**
 * Splits the whole text into parts; the position of an error is a part of its own,
 * an empty one at the end.
 */
export function marksOf(text: string, errorAt?: number): readonly Mark[] {
  const marks = tokensOf(text).flatMap(({ kind, from, to }): Mark[] => {
    const cuts = [from, ...(inside(errorAt, from, to) ? [errorAt!] : []), to];
    return cuts
      .slice(1)
      .map((end, at) => [cuts[at]!, end] as const)
      .filter(([start, end]) => start < end)
      .map(([start, end]) => ({
        text: text.slice(start, end),
        kind,
        isWrong: start === errorAt,
      }));
  });
  return errorAt === undefined || errorAt < text.length
    ? marks
    : [...marks, { text: "", kind: "bad", isWrong: true }];
}

function inside(at: number | undefined, from: number, to: number): boolean {
  return at !== undefined && from < at && at < to;
}
