import {
  compileFilter,
  createObjectFilter,
  parseFilter,
  type Predicate,
} from "@xo-server/inventory";

/** Which objects a client asks for. What is left out does not matter. */
export interface ObjectSelection {
  /** The filter says exactly which type. */
  readonly type?: string;
  readonly test?: Predicate;
}

/**
 * @param filter in the filter language, or a pattern (CONTRACT 1.5)
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
