import { tokensOf, type FilterToken } from "./tokens.js";

/** A stretch of a filter text that is shown alike. */
export interface Mark {
  readonly text: string;
  readonly kind: FilterToken["kind"];
  /** Here something is missing or too much. */
  readonly isWrong: boolean;
}

/** The whole text as stretches, with the place of an error on its own; an error at the end is an empty one. */
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
