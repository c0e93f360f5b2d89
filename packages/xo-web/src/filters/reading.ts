import { FilterSyntaxError, parseFilter } from "@xo-server/filter";
import { termAt } from "./caret-term.js";

/** Result of parsing a text while it is typed. */
export interface Reading {
  /** The filter in effect: the text, or its complete part; undefined: no part is valid. */
  readonly filter: string | undefined;
  readonly error: FilterSyntaxError | undefined;
  /** The only error is that the text ends too early. */
  readonly isUnfinished: boolean;
}

/**
 * Parses a text while it is typed. If the term at the caret is incomplete, as in
 * `tags:`, the other terms apply.
 */
export function readFilter(text: string, caret = text.length): Reading {
  const error = errorIn(text);
  if (error === undefined) return { filter: text, error, isUnfinished: false };
  const { start, to } = termAt(text, caret);
  const rest = (text.slice(0, start) + text.slice(to)).trim();
  return {
    filter: errorIn(rest) === undefined ? rest : undefined,
    error,
    isUnfinished: error.position >= text.trimEnd().length,
  };
}

function errorIn(text: string): FilterSyntaxError | undefined {
  try {
    parseFilter(text);
    return undefined;
  } catch (error) {
    if (error instanceof FilterSyntaxError) return error;
    throw error;
  }
}
