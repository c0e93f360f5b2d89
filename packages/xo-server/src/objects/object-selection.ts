import {
  compileFilter,
  createObjectFilter,
  filterFields,
  parseFilter,
  type Filter,
  type Predicate,
} from "@xo-server/inventory";

/** Selection of objects by type and filter. Absent members do not restrict. */
export interface ObjectSelection {
  /** The exact type, if the filter names one. */
  readonly type?: string;
  /** Whether objects of a type can match, if that depends on the type. */
  readonly allowsType?: (type: string) => boolean;
  /** The exact id, if a pattern names one. */
  readonly id?: string;
  readonly test?: Predicate;
}

/**
 * @param filter in the filter language, or a pattern: an object whose properties are compared
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS
 */
export function toSelection(filter: string | object = {}): ObjectSelection {
  if (typeof filter === "string")
    return filter.trim() === "" ? {} : toTextSelection(parseFilter(filter));
  const { type, ...others }: { type?: unknown; id?: unknown } = { ...filter };
  const { id } = others;
  return {
    ...(typeof type === "string"
      ? { type, ...selectionOf(others) }
      : selectionOf(filter)),
    ...(typeof id === "string" && { id }),
  };
}

function toTextSelection(filter: Filter): ObjectSelection {
  const terms = filter.kind === "and" ? filter.terms : [filter];
  const tests = terms
    .filter((term) => filterFields(term)?.join() === "type")
    .map(compileFilter);
  return {
    test: compileFilter(filter),
    ...(tests.length > 0 && {
      allowsType: (type) => tests.every((test) => test({ type })),
    }),
  };
}

function selectionOf(pattern: object): ObjectSelection {
  return Object.keys(pattern).length === 0
    ? {}
    : { test: createObjectFilter(pattern) };
}
