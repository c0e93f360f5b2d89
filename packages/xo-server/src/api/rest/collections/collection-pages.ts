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

export interface PageSources {
  readonly catalog: Pick<Catalog, "get">;
  readonly queries: Pick<Queries, "page">;
}

export interface Selected {
  readonly collection: Collection;
  /** What the reader may see of its type. */
  readonly extent: Extent;
  readonly query: ListQuery;
  /** Id of the object that messages are about. */
  readonly about?: string;
}

/** The objects of a collection that a reader asks for and may see. */
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

/** Objects by their entries: those that the reader may see and asks for. */
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

/** Objects of ours that are not in the catalog. */
export function readObjects(
  objects: readonly ViewObject[],
  toHrefOf: (object: ViewObject) => string,
  query: ListQuery,
): ObjectPages {
  const hrefs = objects.map(toHrefOf);
  const rows = objects.map((object) => Buffer.from(JSON.stringify(object)));
  return mapped(pageOf({ hrefs, rows }), query, (object) => object);
}

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

/** Compared by identity: who has the same rights shares one answer. */
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
    // Objects are there as bytes: hrefs alone do not need them read.
    ...(typeof fields === "object" ? { fields } : {}),
    ...(limit === Infinity ? {} : { limit }),
  };
}

/** Pages of other objects than those that come in: filter, limit and fields are for what goes out. */
async function* mapped(
  pages: ObjectPages,
  { fields, filter, limit }: ListQuery,
  map: (object: ViewObject) => ViewObject,
): ObjectPages {
  const test = filter === undefined ? () => true : compileFilter(filter);
  let left = limit;
  for await (const page of pages) {
    const hrefs: string[] = [];
    const rows: Buffer[] = [];
    for (const [i, row] of page.rows.entries()) {
      const object = map(JSON.parse(row.toString()) as ViewObject);
      if (!test(object)) continue;
      if (left-- <= 0) break;
      hrefs.push(page.hrefs[i]!);
      rows.push(Buffer.from(JSON.stringify(pick(object, fields))));
    }
    yield { hrefs, rows };
    if (left <= 0) return;
  }
}

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
