import type { Filter } from "@xo-server/filter";
import { compileFilter } from "./compile-filter.js";
import type { Predicate } from "./predicate.js";

/**
 * A filter split up for evaluation by columns. The test of a `path` gets the
 * value at that path, undefined where the path does not exist: it is evaluated
 * once per distinct value. The test of an `object` needs the whole object.
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
      /**
       * The same predicate is used by many queries (rights of a user): results
       * are worth caching.
       */
      readonly isLasting?: boolean;
    };

/**
 * Splits a filter. For every existing object the plan has the same result as
 * `compileFilter(filter)`. An empty filter becomes an `and` without parts.
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

/** Plan of a term for the value at a path. */
function planProperty(path: readonly string[], term: Filter): FilterPlan {
  if (isGroup(term) && term.terms.every(isProperty))
    return {
      kind: term.kind,
      parts: term.terms.map((child) => planProperty(path, child)),
    };
  if (term.kind === "truthy")
    return { kind: "path", path: [...path, term.name], test: Boolean };
  // A property of a missing value never matches. If the inner term matches
  // undefined, the test must distinguish a missing parent from a missing
  // property.
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
