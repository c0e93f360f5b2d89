import {
  FilterSyntaxError,
  filterLimits,
  parseFilter as parse,
  type Filter,
} from "@xo-server/filter";
import { XoError } from "@xo-server/model";
import { nestDottedNames } from "./nested-names.js";
import { createPattern } from "./pattern.js";

/**
 * Parses a filter (packages/filter) and accepts only regular expressions that
 * `compileFilter` supports. Names with dots are paths: `memory.size` is
 * `memory:size`.
 * @throws XoError FILTER_INVALID with the position, in UTF-16 units from 0
 */
export function parseFilter(text: string): Filter {
  try {
    return nestDottedNames(parse(text, expectedPattern));
  } catch (error) {
    if (!(error instanceof FilterSyntaxError)) throw error;
    throw new XoError("FILTER_INVALID", {
      expected: error.expected,
      position: error.position,
      stringToParse: text.slice(0, filterLimits.length),
    });
  }
}

function expectedPattern(source: string, ignoreCase: boolean) {
  const pattern = createPattern(source, ignoreCase);
  return typeof pattern === "string" ? pattern : undefined;
}
