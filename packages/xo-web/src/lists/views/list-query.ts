import type { SortKey } from "../../live/live-window.js";

/**
 * The selection of rows and columns of a list. It is part of the address, so that it can be shared.
 */
export interface ListQuery {
  /** The text in the filter field. */
  readonly filter: string;
  readonly sort: readonly SortKey[];
  /** Path of the property; undefined: no groups. */
  readonly group?: string | undefined;
  /** Ids of columns, in their order; undefined: what this browser remembers. */
  readonly columns?: readonly string[] | undefined;
}

/** Parameters as the router has them: a name may occur several times. */
type AddressQuery = Readonly<
  Record<string, string | null | (string | null)[] | undefined>
>;

/** Maximum number of sort keys. */
const MAX_KEYS = 8;

/**
 * Parses an address; absent parts are those of `defaults`. An empty `q` is not a filter,
 * which differs from an absent one: some types hide some of their objects by
 * default.
 */
export function readQuery(query: AddressQuery, defaults: ListQuery): ListQuery {
  const filter = textOf(query["q"]);
  const sort = textOf(query["sort"]);
  const group = textOf(query["group"]);
  const columns = textOf(query["columns"]);
  return {
    filter: filter ?? defaults.filter,
    sort: sort === undefined ? defaults.sort : readSort(sort),
    group: (group ?? defaults.group) || undefined,
    ...(columns === undefined
      ? {}
      : { columns: columns.split(",").filter(Boolean) }),
  };
}

/** Writes a query for `readQuery`; default values are omitted. */
export function writeQuery(
  query: ListQuery,
  defaults: ListQuery,
): Record<string, string> {
  const written: Record<string, string> = {};
  if (query.filter !== defaults.filter) written["q"] = query.filter;
  const sort = writeSort(query.sort);
  if (sort !== writeSort(defaults.sort)) written["sort"] = sort;
  if (query.group !== defaults.group) written["group"] = query.group ?? "";
  if (query.columns !== undefined) written["columns"] = query.columns.join();
  return written;
}

/** `-now.cpu,name_label`: a minus means descending. */
function readSort(text: string): SortKey[] {
  const keys = text.split(",").filter((key) => /^-?[\w$.]{1,64}$/.test(key));
  return keys
    .slice(0, MAX_KEYS)
    .map((key) =>
      key.startsWith("-")
        ? { by: key.slice(1), descending: true }
        : { by: key },
    );
}

function writeSort(sort: readonly SortKey[]): string {
  return sort.map(({ by, descending }) => (descending ? `-${by}` : by)).join();
}

/**
 * The sort keys after a click on a column head: by this column, then in the other
 * direction, then the default order.
 * @param isAdded with Shift: the other keys stay
 * @param highestFirst whether the first direction is descending
 */
export function sortOn(
  sort: readonly SortKey[],
  by: string,
  { isAdded, highestFirst }: { isAdded: boolean; highestFirst: boolean },
): SortKey[] {
  const known = sort.find((key) => key.by === by);
  const first = toKey(by, highestFirst);
  const isFirstWay = (known?.descending ?? false) === highestFirst;
  const next = known === undefined ? first : toKey(by, !highestFirst);
  if (!isAdded) return known !== undefined && !isFirstWay ? [] : [next];
  if (known === undefined) return [...sort, first].slice(-MAX_KEYS);
  if (!isFirstWay) return sort.filter((key) => key !== known);
  return sort.map((key) => (key === known ? next : key));
}

function toKey(by: string, descending: boolean): SortKey {
  return descending ? { by, descending } : { by };
}

function textOf(value: AddressQuery[string]): string | undefined {
  const one = Array.isArray(value) ? value[0] : value;
  return one ?? undefined;
}
