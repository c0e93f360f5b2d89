import type { ParameterInfo } from "./method-info.js";

interface NestedParameter {
  /** Such as `VDIs[].size`. */
  readonly path: string;
  readonly info: ParameterInfo;
  readonly isRequired: boolean;
}

/** Levels of members that are listed. */
const MAX_LEVELS = 3;

/** Members of a parameter that is an object, or a list of objects, in the order of its schema. */
export function nestedParameters(
  path: string,
  info: ParameterInfo,
  levels = MAX_LEVELS,
): NestedParameter[] {
  if (levels === 0) return [];
  if (info.items !== undefined)
    return nestedParameters(`${path}[]`, info.items, levels);
  // Members of a union with the same name are listed once.
  const found = new Map<string, NestedParameter>();
  for (const branch of info.anyOf ?? [])
    for (const one of nestedParameters(path, branch, levels))
      if (!found.has(one.path)) found.set(one.path, one);
  for (const [name, member] of Object.entries(info.properties ?? {})) {
    const own = `${path}.${name}`;
    const isRequired = info.required?.includes(name) === true;
    found.set(own, { path: own, info: member, isRequired });
    for (const one of nestedParameters(own, member, levels - 1))
      found.set(one.path, one);
  }
  return [...found.values()];
}
