import {
  compileFilter,
  createObjectFilter,
  filterFields,
  parseFilter,
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
  /** The condition of `test` for a query; absent if it reads whole objects. */
  readonly columns?: { readonly filter: string } | { readonly pattern: object };
}

/** Properties of a filter up to which it is evaluated by columns. */
const MAX_COLUMNS = 16;

/**
 * @param filter in the filter language, or a pattern: an object whose properties are compared
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS
 */
export function toSelection(filter: string | object = {}): ObjectSelection {
  if (typeof filter === "string")
    return filter.trim() === "" ? {} : toTextSelection(filter);
  const { type, ...others }: { type?: unknown; id?: unknown } = { ...filter };
  const { id } = others;
  return {
    ...(typeof type === "string"
      ? { type, ...selectionOf(others) }
      : selectionOf(filter)),
    ...(typeof id === "string" && { id }),
  };
}

function toTextSelection(filter: string): ObjectSelection {
  const parsed = parseFilter(filter);
  const terms = parsed.kind === "and" ? parsed.terms : [parsed];
  const tests = terms
    .filter((term) => filterFields(term)?.join() === "type")
    .map(compileFilter);
  return {
    test: compileFilter(parsed),
    ...(isReadByColumns(filterFields(parsed)) && { columns: { filter } }),
    ...(tests.length > 0 && {
      allowsType: (type) => tests.every((test) => test({ type })),
    }),
  };
}

function selectionOf(pattern: object): ObjectSelection {
  const names = Object.keys(pattern);
  return names.length === 0
    ? {}
    : {
        test: createObjectFilter(pattern),
        ...(isReadByColumns(names) && { columns: { pattern } }),
      };
}

/** Latest metrics have columns, but no object has them: no object matches. */
function isReadByColumns(names: readonly string[] | undefined): boolean {
  return (
    names !== undefined &&
    names.length <= MAX_COLUMNS &&
    !names.some((name) => name === "now" || name.startsWith("now."))
  );
}
