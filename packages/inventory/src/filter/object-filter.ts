import { XoError } from "@xo-server/model";
import type { FilterPlan } from "./analyse-filter.js";
import { every } from "./compile-filter.js";
import type { Predicate } from "./predicate.js";
import { propertyOf } from "./property-path.js";

/** Limits of a pattern: nesting, and number of values. */
export const objectFilterLimits = { depth: 32, values: 1_024 };

/**
 * The object filter of JSON-RPC clients: a value matches when every property of
 * `pattern` matches. A list matches when each element of the pattern's list
 * matches one of its elements, in any order; other values must be equal. `{}`
 * matches every object, `[]` every list. The predicate declares which properties it reads.
 * @throws XoError INVALID_PARAMETERS for a pattern beyond the limits
 */
export function createObjectFilter(pattern: object): Predicate {
  const test = compileValue(pattern);
  return Array.isArray(pattern)
    ? test
    : Object.assign(test, { fields: Object.keys(pattern) });
}

/**
 * The object filter as a plan for evaluation by columns: the same objects match
 * as those of `createObjectFilter(pattern)`.
 * @throws XoError INVALID_PARAMETERS for a pattern beyond the limits
 */
export function analyseObjectFilter(pattern: object): FilterPlan {
  const test = createObjectFilter(pattern);
  if (Array.isArray(pattern)) return { kind: "object", test };
  const members: [string, unknown][] = Object.entries(pattern);
  return { kind: "and", parts: members.map(planMember) };
}

/** A column of objects (`other_config`) costs more than one test of each. */
function planMember([name, member]: [string, unknown]): FilterPlan {
  const isMap =
    typeof member === "object" && member !== null && !Array.isArray(member);
  return isMap
    ? { kind: "object", test: createObjectFilter({ [name]: member }) }
    : { kind: "path", path: [name], test: compileValue(member) };
}

function compileValue(pattern: unknown): Predicate {
  let values = 0;

  function compile(part: unknown, depth: number): Predicate {
    if (depth > objectFilterLimits.depth)
      throw tooLarge("deep", objectFilterLimits.depth);
    if (++values > objectFilterLimits.values)
      throw tooLarge("many values", objectFilterLimits.values);
    if (Array.isArray(part))
      return containsAll(part.map((member) => compile(member, depth + 1)));
    if (typeof part !== "object" || part === null)
      return (value) => value === part;
    return hasProperties(
      Object.entries(part).map(([name, member]) =>
        property(name, compile(member, depth + 1)),
      ),
    );
  }

  return compile(pattern, 1);
}

function property(name: string, test: Predicate): Predicate {
  return (value) => test(propertyOf(value, name));
}

function hasProperties(properties: readonly Predicate[]): Predicate {
  const all = every(properties);
  return (value) => typeof value === "object" && value !== null && all(value);
}

function containsAll(members: readonly Predicate[]): Predicate {
  const isIn = (list: readonly unknown[], test: Predicate) => {
    for (const member of list) if (test(member)) return true;
    return false;
  };
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (const test of members) if (!isIn(value, test)) return false;
    return true;
  };
}

function tooLarge(what: string, limit: number): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `the filter is too ${what}, the limit is ${String(limit)}`,
  });
}
