import type { Filter } from "@xo-server/filter";

/**
 * Reads `memory.size:>1` as `memory:size:>1`. No property of an object has a
 * dot in its name; properties inside a property may have one
 * (`other_config:"a.b":x`) and stay as they are.
 */
export function nestDottedNames(filter: Filter): Filter {
  switch (filter.kind) {
    case "and":
    case "or":
      return { ...filter, terms: filter.terms.map(nestDottedNames) };
    case "not":
      return { ...filter, term: nestDottedNames(filter.term) };
    case "property":
      return nest(filter.name, (name) => ({ ...filter, name }));
    case "truthy":
      return nest(filter.name, (name) => ({ ...filter, name }));
    case "compare":
    case "text":
    case "glob":
    case "regex":
      return filter;
  }
}

function nest(path: string, last: (name: string) => Filter): Filter {
  const names = path.split(".");
  if (names.includes("")) return last(path);
  return names
    .slice(0, -1)
    .reduceRight<Filter>(
      (term, name) => ({ kind: "property", name, term }),
      last(names.at(-1)!),
    );
}
