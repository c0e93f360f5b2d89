import type { Filter } from "@xo-server/filter";

/** Whether a filter has a regular expression: a test of one object may take milliseconds. */
export function hasPattern(filter: Filter): boolean {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.terms.some(hasPattern);
    case "not":
    case "property":
      return hasPattern(filter.term);
    case "regex":
      return true;
    case "truthy":
    case "compare":
    case "text":
    case "glob":
      return false;
  }
}
