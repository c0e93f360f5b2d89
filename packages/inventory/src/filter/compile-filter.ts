import type { Filter } from "@xo-server/filter";
import { XoError } from "@xo-server/model";
import type { Predicate } from "./predicate.js";
import { filterFields } from "./filter-fields.js";
import { createGlob } from "./glob.js";
import { createPattern } from "./pattern.js";
import { propertyOf } from "./property-path.js";

/** Depth limit of text searches; views are much flatter. */
const MAX_DEPTH = 32;

/**
 * Compiles a filter to a predicate on JSON values, with the properties that it reads.
 * Evaluation allocates nothing but lower-case strings.
 * @throws XoError FILTER_INVALID for a regular expression that `parseFilter`
 *   would reject
 */
export function compileFilter(filter: Filter): Predicate {
  return Object.assign(compile(filter), { fields: filterFields(filter) });
}

function compile(filter: Filter): Predicate {
  switch (filter.kind) {
    case "and":
      return every(filter.terms.map(compile));
    case "or":
      return some(filter.terms.map(compile));
    case "not":
      return not(compile(filter.term));
    case "compare":
      return compare(filter.operator, filter.number);
    case "property":
      return property(filter.name, compile(filter.term));
    case "truthy":
      return (value) => Boolean(propertyOf(value, filter.name));
    case "text":
      return deep(containsText(filter.text, filter.number));
    case "glob":
      return deep(stringsOnly(createGlob(filter.pattern)));
    case "regex":
      return deep(stringsOnly(patternOf(filter.source, filter.ignoreCase)));
  }
}

/** True when all tests are true. */
export function every(tests: readonly Predicate[]): Predicate {
  return (value) => {
    for (const test of tests) if (!test(value)) return false;
    return true;
  };
}

function some(tests: readonly Predicate[]): Predicate {
  return (value) => {
    for (const test of tests) if (test(value)) return true;
    return false;
  };
}

function not(test: Predicate): Predicate {
  return (value) => !test(value);
}

function property(name: string, test: Predicate): Predicate {
  return (value) =>
    value !== null && value !== undefined && test(propertyOf(value, name));
}

function compare(operator: "<" | "<=" | ">" | ">=", number: number): Predicate {
  switch (operator) {
    case "<":
      return (value) => numberOf(value) < number;
    case "<=":
      return (value) => numberOf(value) <= number;
    case ">":
      return (value) => numberOf(value) > number;
    case ">=":
      return (value) => numberOf(value) >= number;
  }
}

/**
 * Numbers, and strings that contain one (such as `CPUs.cpu_count` of hosts);
 * NaN for anything else, for which no comparison is true.
 */
function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return NaN;
  return Number(value);
}

function containsText(part: string, number = NaN): Predicate {
  const needle = part.toLowerCase();
  return (value) =>
    typeof value === "string"
      ? value.toLowerCase().includes(needle)
      : value === number;
}

function stringsOnly(test: (text: string) => boolean): Predicate {
  return (value) => typeof value === "string" && test(value);
}

function patternOf(source: string, ignoreCase: boolean) {
  const pattern = createPattern(source, ignoreCase);
  if (typeof pattern !== "string") return pattern.test;
  const stringToParse = `/${source}/`;
  throw new XoError("FILTER_INVALID", {
    expected: pattern,
    position: 0,
    stringToParse,
  });
}

/** Applies a test to the value itself and to everything nested in it. */
function deep(test: Predicate): Predicate {
  const search = (value: unknown, depth: number): boolean => {
    if (typeof value !== "object" || value === null) return test(value);
    if (depth === MAX_DEPTH) return false;
    return Array.isArray(value)
      ? inList(value, depth + 1)
      : inObject(value as Record<string, unknown>, depth + 1);
  };
  const inList = (list: readonly unknown[], depth: number): boolean => {
    for (const member of list) if (search(member, depth)) return true;
    return false;
  };
  const inObject = (
    object: Readonly<Record<string, unknown>>,
    depth: number,
  ): boolean => {
    for (const key in object)
      if (Object.hasOwn(object, key) && search(object[key], depth)) return true;
    return false;
  };
  return (value) => search(value, 0);
}
