import type { Filter } from "@xo-server/filter";
import { compileFilter } from "./compile-filter.js";
import type { Predicate } from "./predicate.js";

/**
 * A filter taken apart for columns. The test of a `path` gets the value at that
 * path, undefined where the path breaks off: it can be asked once for each
 * distinct value. The test of an `object` needs the whole object.
 */
export type FilterPlan =
  | { readonly kind: "and" | "or"; readonly parts: readonly FilterPlan[] }
  | { readonly kind: "not"; readonly part: FilterPlan }
  | {
      readonly kind: "path";
      readonly path: readonly string[];
      readonly test: Predicate;
    }
  | {
      readonly kind: "object";
      readonly test: Predicate;
      /** It will be asked again, by other questions. */
      readonly isLasting?: boolean;
    };

/**
 * Of an object that is there, the plan holds exactly when `compileFilter(filter)`
 * does. An empty filter is an `and` without parts.
 * @throws XoError FILTER_INVALID like compileFilter
 */
export function analyseFilter(filter: Filter): FilterPlan {
  switch (filter.kind) {
    case "and":
    case "or":
      return { kind: filter.kind, parts: filter.terms.map(analyseFilter) };
    case "not":
      return { kind: "not", part: analyseFilter(filter.term) };
    case "property":
      return planProperty([filter.name], filter.term);
    case "truthy":
      return { kind: "path", path: [filter.name], test: Boolean };
    case "compare":
    case "text":
    case "glob":
    case "regex":
      return { kind: "object", test: compileFilter(filter) };
  }
}

/** What `term` says about the value at `path`. */
function planProperty(path: readonly string[], term: Filter): FilterPlan {
  if (isGroup(term) && term.terms.every(isProperty))
    return {
      kind: term.kind,
      parts: term.terms.map((child) => planProperty(path, child)),
    };
  if (term.kind === "truthy")
    return { kind: "path", path: [...path, term.name], test: Boolean };
  // A property of nothing does not match, whatever its term says of undefined:
  // where that term would match, the test has to see whether there is a parent.
  if (term.kind === "property" && !compileFilter(term.term)(undefined))
    return planProperty([...path, term.name], term.term);
  return { kind: "path", path, test: compileFilter(term) };
}

function isGroup(filter: Filter) {
  return filter.kind === "and" || filter.kind === "or";
}

function isProperty(filter: Filter): boolean {
  return filter.kind === "property" || filter.kind === "truthy";
}
