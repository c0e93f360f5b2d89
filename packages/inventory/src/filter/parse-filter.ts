import {
  FilterSyntaxError,
  filterLimits,
  parseFilter as parse,
  type Filter,
} from "@xo-server/filter";
import { XoError } from "@xo-server/model";
import { nestDottedNames } from "./nested-names.js";
import { createPattern, patternLimits, SIMPLER_PATTERN } from "./pattern.js";

/**
 * Parses a filter (packages/filter) and accepts only regular expressions that
 * `compileFilter` supports. Names with dots are paths: `memory.size` is
 * `memory:size`.
 * @throws XoError FILTER_INVALID with the position, in UTF-16 units from 0
 */
export function parseFilter(text: string): Filter {
  try {
    return nestDottedNames(parse(text, patternChecker()));
  } catch (error) {
    if (!(error instanceof FilterSyntaxError)) throw error;
    throw new XoError("FILTER_INVALID", {
      expected: error.expected,
      position: error.position,
      stringToParse: text.slice(0, filterLimits.length),
    });
  }
}

/** @returns called for each expression of one filter; returns what was expected instead of it */
function patternChecker() {
  let linearSize = 0;
  return (source: string, ignoreCase: boolean): string | undefined => {
    const pattern = createPattern(source, ignoreCase);
    if (typeof pattern === "string") return pattern;
    linearSize += pattern.linearSize;
    return linearSize > patternLimits.filterSize ? SIMPLER_PATTERN : undefined;
  };
}
