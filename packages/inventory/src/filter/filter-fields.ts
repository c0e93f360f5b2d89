import type { Filter } from "@xo-server/filter";

/** The top-level properties that a filter reads; undefined: any. */
export function filterFields(filter: Filter): readonly string[] | undefined {
  switch (filter.kind) {
    case "and":
    case "or":
      return unionOfFields(filter.terms.map(filterFields));
    case "not":
      return filterFields(filter.term);
    case "property":
    case "truthy":
      return [filter.name];
    case "compare":
    case "text":
    case "glob":
    case "regex":
      return undefined;
  }
}

/** Union of the fields of several predicates; undefined: any. */
export function unionOfFields(
  parts: readonly (readonly string[] | undefined)[],
): readonly string[] | undefined {
  const all = new Set<string>();
  for (const fields of parts) {
    if (fields === undefined) return undefined;
    for (const field of fields) all.add(field);
  }
  return [...all];
}
