import {
  compileFilter,
  createObjectFilter,
  parseFilter,
  type Predicate,
} from "@xo-server/inventory";

/** Selection of objects by type and filter. Absent members do not restrict. */
export interface ObjectSelection {
  /** The exact type, if the filter names one. */
  readonly type?: string;
  readonly test?: Predicate;
}

/**
 * @param filter in the filter language, or a pattern: an object whose properties are compared
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS
 */
export function toSelection(filter: string | object = {}): ObjectSelection {
  if (typeof filter === "string")
    return filter.trim() === ""
      ? {}
      : { test: compileFilter(parseFilter(filter)) };
  const { type, ...others }: { type?: unknown } = { ...filter };
  if (typeof type !== "string") return selectionOf(filter);
  return { type, ...selectionOf(others) };
}

function selectionOf(pattern: object): ObjectSelection {
  return Object.keys(pattern).length === 0
    ? {}
    : { test: createObjectFilter(pattern) };
}
