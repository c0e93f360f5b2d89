import type { SortKey } from "../live/live-window.js";

/**
 * The selection of rows and columns of a list. It is part of the address, so that it can be shared.
 */
export interface ListQuery {
  /** The text in the filter field. */
  readonly filter: string;
  readonly sort: readonly SortKey[];
  /** A path; undefined: no groups. */
  readonly group?: string | undefined;
  /** Ids of columns, in their order; undefined: what this browser remembers. */
  readonly columns?: readonly string[] | undefined;
}

/** As routes have them: a name may come several times. */
export type AddressQuery = Readonly<
  Record<string, string | null | (string | null)[] | undefined>
>;

/** Keys at most that the server orders by. */
const MOST_KEYS = 8;

/**
 * Reads an address; absent parts are those of `usual`. An empty `q` is no filter, which differs
 * from none: types hide some of their objects unless requested.
 */
export function readQuery(query: AddressQuery, usual: ListQuery): ListQuery {
  const filter = textOf(query["q"]);
  const sort = textOf(query["sort"]);
  const group = textOf(query["group"]);
  const columns = textOf(query["columns"]);
  return {
    filter: filter ?? usual.filter,
    sort: sort === undefined ? usual.sort : readSort(sort),
    group: (group ?? usual.group) || undefined,
    ...(columns === undefined
      ? {}
      : { columns: columns.split(",").filter(Boolean) }),
  };
}

/** Writes a query for `readQuery`; default values are omitted. */
export function writeQuery(
  query: ListQuery,
  usual: ListQuery,
): Record<string, string> {
  const written: Record<string, string> = {};
  if (query.filter !== usual.filter) written["q"] = query.filter;
  const sort = writeSort(query.sort);
  if (sort !== writeSort(usual.sort)) written["sort"] = sort;
  if (query.group !== usual.group) written["group"] = query.group ?? "";
  if (query.columns !== undefined) written["columns"] = query.columns.join();
  return written;
}

/** `-now.cpu,name_label`: a minus is "from the highest". */
function readSort(text: string): SortKey[] {
  const keys = text.split(",").filter((key) => /^-?[\w$.]{1,64}$/.test(key));
  return keys
    .slice(0, MOST_KEYS)
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
 * What a click on a head makes of the order: this column, then the other way round, then the
 * usual order again. With others already there it is put behind them, or turned or taken out.
 * @param isAdded with shift: the others stay
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
  if (known === undefined) return [...sort, first].slice(-MOST_KEYS);
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
