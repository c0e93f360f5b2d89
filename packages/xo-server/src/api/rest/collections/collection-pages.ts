import {
  compileFilter,
  formatFilter,
  evaluatePredicate,
  type Catalog,
  type CatalogEntry,
  type Filter,
  type PageRequest,
  type Predicate,
  type Queries,
  type ViewObject,
} from "@xo-server/inventory";
import type { Extent } from "../../../rights/rights.js";
import { isAlarmFilter, isNotAlarmFilter, toAlarm } from "./alarms.js";
import type { ListQuery } from "../lists/list-query.js";
import type { Collection } from "./collections.js";
import { pageOf, readPages, type ObjectPages } from "../lists/object-pages.js";
import { toHref } from "../routing/rest-path.js";

interface PageSources {
  readonly catalog: Pick<Catalog, "get">;
  readonly queries: Pick<Queries, "page">;
}

interface Selected {
  readonly collection: Collection;
  /** Objects of the type that the caller may read. */
  readonly extent: Extent;
  readonly query: ListQuery;
  /** Id of an object; only its messages are requested. */
  readonly about?: string;
}

/** The requested objects of a collection that the caller may read. */
export function readCollection(
  { catalog, queries }: PageSources,
  selected: Selected,
): ObjectPages {
  const { collection, extent, query, about } = selected;
  if (extent === "none" || query.limit === 0)
    return pageOf({ hrefs: [], rows: [] });
  const own = [...ownFilters(collection, about)];
  const href = (id: string) => toHref(collection.name, id);
  const type = { type: collection.type, ...whereOf(extent) };
  if (collection.name !== "alarms") {
    const request = { ...type, ...toRequest(query, own) };
    return readPages(queries, request, href);
  }
  const request = { ...type, filter: formatFilter(all(own)) };
  return mapped(readPages(queries, request, href), query, (message) =>
    toAlarm(message, catalog),
  );
}

/** The entries that match the request and that the caller may read. */
export function readEntries(
  entries: readonly { readonly href: string; readonly entry: CatalogEntry }[],
  { query, extent }: { query: ListQuery; extent: (type: string) => Extent },
): ObjectPages {
  const readable = entries.filter(({ entry }) =>
    isInExtent(extent(entry.type), entry),
  );
  const hrefs = readable.map(({ href }) => href);
  const rows = readable.map(({ entry }) => entry.json);
  return mapped(pageOf({ hrefs, rows }), query, (object) => object);
}

/** Objects that are not in the catalog, such as users and tasks. */
export function readObjects(
  objects: readonly ViewObject[],
  toHrefOf: (object: ViewObject) => string | undefined,
  query: ListQuery,
): ObjectPages {
  const hrefs = objects.map(toHrefOf);
  const rows = objects.map((object) => Buffer.from(JSON.stringify(object)));
  return mapped(pageOf({ hrefs, rows }), query, (object) => object);
}

/** Whether the caller may read an object of the extent. */
export function isInExtent(extent: Extent, { json }: CatalogEntry): boolean {
  return typeof extent === "function"
    ? evaluatePredicate(extent, json)
    : extent === "all";
}

function* ownFilters(
  { name }: Collection,
  about: string | undefined,
): Generator<Filter> {
  if (name === "alarms") yield isAlarmFilter;
  if (name === "messages") yield isNotAlarmFilter;
  if (about !== undefined) {
    const source = `^${about.replace(/[^\w-]/g, "\\$&")}$`;
    const term: Filter = { kind: "regex", source, ignoreCase: false };
    yield { kind: "property", name: "$object", term };
  }
}

function all(terms: readonly Filter[]): Filter {
  return { kind: "and", terms };
}

/** Predicates are compared by identity, so callers with the same rights share a result. */
function whereOf(extent: Extent): { where?: Predicate } {
  return typeof extent === "function" ? { where: extent } : {};
}

function toRequest(
  { fields, filter, limit }: ListQuery,
  own: readonly Filter[],
): Omit<PageRequest, "type"> {
  const terms = filter === undefined ? own : [...own, filter];
  return {
    ...(terms.length === 0 ? {} : { filter: formatFilter(all(terms)) }),
    // Without fields only ids are needed: the objects are not decoded.
    ...(typeof fields === "object" ? { fields } : {}),
    ...(limit === Infinity ? {} : { limit }),
  };
}

/** Maps the objects of pages; filter, limit and fields apply to the results. */
async function* mapped(
  pages: ObjectPages,
  { fields, filter, limit }: ListQuery,
  map: (object: ViewObject) => ViewObject,
): ObjectPages {
  const test = filter === undefined ? () => true : compileFilter(filter);
  let remaining = limit;
  for await (const page of pages) {
    const hrefs: string[] = [];
    const rows: Buffer[] = [];
    for (const [i, row] of page.rows.entries()) {
      const object = map(JSON.parse(row.toString()) as ViewObject);
      if (!test(object)) continue;
      if (remaining-- <= 0) break;
      hrefs.push(page.hrefs[i]!);
      rows.push(Buffer.from(JSON.stringify(pick(object, fields))));
    }
    yield { hrefs, rows };
    if (remaining <= 0) return;
  }
}

/** The requested fields of an object; those that it does not have are left out. */
export function pick(
  object: ViewObject,
  fields: ListQuery["fields"],
): ViewObject {
  if (typeof fields !== "object") return object;
  return Object.fromEntries(
    fields
      .filter((field) => Object.hasOwn(object, field))
      .map((field) => [field, object[field]]),
  );
}
