import { XoError } from "@xo-server/model";
import { analyseFilter, type FilterPlan } from "../filter/analyse-filter.js";
import { analyseObjectFilter } from "../filter/object-filter.js";
import { hasPattern } from "../filter/has-pattern.js";
import type { Predicate } from "../filter/predicate.js";
import { parseFilter } from "../filter/parse-filter.js";
import { METRICS_FIELD, metricOf, metricNames } from "./metrics.js";
import type { Selection, SortKey } from "./query.js";
import { pathsOf } from "./row-test.js";
import { toPath, type ValuePath } from "./value-path.js";

/** Limits of requests; text lengths in UTF-16 code units. */
export const queryLimits = {
  sortKeys: 8,
  fields: 256,
  window: 10_000,
  ids: 1_000,
  searchWords: 16,
  searchLength: 1_024,
  pathLength: 256,
  pathParts: 8,
  /** Distinct paths of a filter; each is a column. */
  filterPaths: 64,
  /** Limits of `columns` requests. */
  columnPaths: 8,
  columnRows: 200_000,
  columnBytes: 64 << 20,
} as const;

export interface SortPath {
  readonly path: ValuePath;
  readonly descending: boolean;
}

/** A selection after validation. */
export interface CompiledQuery {
  /** Equal for queries with the same result. */
  readonly key: string;
  readonly type: string;
  /** Only these objects can match; undefined: any. */
  readonly ids: readonly string[] | undefined;
  readonly plan: FilterPlan;
  /** The filter has regular expressions: few rows are tested in one step. */
  readonly hasPatterns: boolean;
  /** Paths that the plan reads. */
  readonly paths: readonly ValuePath[];
  /** Undefined: unordered. */
  readonly sort: readonly SortPath[] | undefined;
}

const DEFAULT_SORT: readonly SortKey[] = [{ by: "name_label" }];

/**
 * Validates a selection and compiles its filter and search.
 * @param searched paths in which words are searched
 * @throws XoError INVALID_PARAMETERS, FILTER_INVALID
 */
export function compileQuery(
  selection: Selection,
  searched: readonly string[],
): CompiledQuery {
  const { type, filter = "", pattern, where } = selection;
  const words = toWords(selection.search ?? "");
  const ids = checkIds(selection.ids);
  const parsed = parseFilter(filter);
  const parts: FilterPlan[] = [
    { kind: "path", path: ["type"], test: (value) => value === type },
    resolveMetricPaths(analyseFilter(parsed)),
    ...words.map((word) => searchPlan(word, searched)),
  ];
  if (pattern !== undefined) parts.push(analyseObjectFilter(pattern));
  if (ids !== undefined) parts.push(idPlan(ids));
  if (where !== undefined)
    parts.push({ kind: "object", test: where, isLasting: true });
  const plan: FilterPlan = { kind: "and", parts };
  const sort = toSort(selection.sort ?? DEFAULT_SORT);
  return {
    key: JSON.stringify([
      type,
      filter,
      pattern,
      words,
      ids,
      sort,
      identityOf(where),
    ]),
    type,
    ids,
    plan,
    hasPatterns: hasPattern(parsed),
    paths: distinctPaths(plan),
    sort,
  };
}

/** The same query when the order does not matter: counts, groups, columns. */
export function withoutOrder(query: CompiledQuery): CompiledQuery {
  return { ...query, key: `${query.key} in no order`, sort: undefined };
}

/**
 * The requested fields without duplicates, sorted; undefined means all.
 * @throws XoError INVALID_PARAMETERS
 */
export function checkFields(
  fields: readonly string[] | undefined,
): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  if (fields.length > queryLimits.fields)
    throw invalid(`at most ${queryLimits.fields} fields`);
  for (const field of fields) checkText("a field", field);
  return [...new Set(fields)].sort();
}

/**
 * @throws XoError INVALID_PARAMETERS unless the value is an integer within the
 *   bounds (inclusive)
 */
export function checkInteger(
  name: string,
  value: number,
  [min, max]: readonly [number, number],
): number {
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalid(`${name} is not an integer from ${min} to ${max}`);
  return value;
}

/**
 * @param text path with dots, such as `CPUs.number` or `now.cpu`
 * @throws XoError INVALID_PARAMETERS, also for a metric that does not exist
 */
export function checkPath(text: string): ValuePath {
  checkText("a path", text);
  const path = toPath(text);
  if (path.length > queryLimits.pathParts)
    throw invalid(`a path has at most ${queryLimits.pathParts} parts`);
  return checkMetricPath(path);
}

/** Paths by their text in the request. */
export function checkColumnPaths(
  texts: readonly string[],
): ReadonlyMap<string, ValuePath> {
  if (texts.length > queryLimits.columnPaths)
    throw invalid(`at most ${queryLimits.columnPaths} paths`);
  return new Map(texts.map((text) => [text, checkPath(text)]));
}

/**
 * In filters `now.cpu` is one property name and `now:cpu` a nested one: both
 * refer to the metric.
 */
function resolveMetricPaths(plan: FilterPlan): FilterPlan {
  switch (plan.kind) {
    case "and":
    case "or":
      return { ...plan, parts: plan.parts.map(resolveMetricPaths) };
    case "not":
      return { ...plan, part: resolveMetricPaths(plan.part) };
    case "path": {
      const [name = "", ...more] = plan.path;
      const path = name.startsWith(`${METRICS_FIELD}.`)
        ? [...toPath(name), ...more]
        : plan.path;
      return { ...plan, path: checkMetricPath(path) };
    }
    case "object":
      return plan;
  }
}

/**
 * Only single metrics can be used in filters and sort keys, not `now` as a
 * whole.
 */
function checkMetricPath(path: ValuePath): ValuePath {
  if (path[0] !== METRICS_FIELD || metricOf(path) >= 0) return path;
  const names = metricNames
    .map((name) => `${METRICS_FIELD}.${name}`)
    .join(", ");
  throw invalid(`${path.join(".")} is not one of ${names}`);
}

/** XoError INVALID_PARAMETERS */
export function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}

function checkText(what: string, text: unknown): void {
  if (typeof text !== "string" || text.length > queryLimits.pathLength)
    throw invalid(
      `${what} is a string of at most ${queryLimits.pathLength} characters`,
    );
}

/** Sorted and distinct. */
function checkIds(
  ids: readonly string[] | undefined,
): readonly string[] | undefined {
  if (ids === undefined) return undefined;
  if (ids.length > queryLimits.ids)
    throw invalid(`at most ${queryLimits.ids} ids`);
  for (const id of ids) checkText("an id", id);
  return [...new Set(ids)].sort();
}

function idPlan(ids: readonly string[]): FilterPlan {
  const allowed: ReadonlySet<unknown> = new Set(ids);
  return { kind: "path", path: ["id"], test: (id) => allowed.has(id) };
}

function toSort(keys: readonly SortKey[]): SortPath[] {
  if (keys.length > queryLimits.sortKeys)
    throw invalid(`at most ${queryLimits.sortKeys} sort keys`);
  return keys.map(({ by, descending = false }) => ({
    path: checkPath(by),
    descending,
  }));
}

function toWords(search: string): string[] {
  if (search.length > queryLimits.searchLength)
    throw invalid(
      `a search has at most ${queryLimits.searchLength} characters`,
    );
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const distinct = [...new Set(words)].sort();
  if (distinct.length > queryLimits.searchWords)
    throw invalid(`a search has at most ${queryLimits.searchWords} words`);
  return distinct;
}

/**
 * Ids are random hexadecimal digits: shorter words would match many of them by
 * chance.
 */
const MIN_ID_SEARCH_LENGTH = 8;

function searchPlan(word: string, searched: readonly string[]): FilterPlan {
  const has = createTextTest(word);
  const paths =
    word.length < MIN_ID_SEARCH_LENGTH
      ? searched.filter((path) => path !== "id")
      : searched;
  return {
    kind: "or",
    parts: paths.map((path) => ({
      kind: "path",
      path: toPath(path),
      test: (value) => hasText(value, has),
    })),
  };
}

/** Avoids allocating a lower-case copy of each text. */
function createTextTest(word: string): (text: string) => boolean {
  const isAscii = /^[\x20-\x7e]*$/.test(word);
  if (!isAscii) return (text) => text.toLowerCase().includes(word);
  const pattern = new RegExp(word.replace(/[^a-z0-9 ]/g, "\\$&"), "i");
  return (text) => pattern.test(text);
}

/** Also one level into lists and objects: tags, addresses. */
function hasText(value: unknown, has: (text: string) => boolean): boolean {
  if (typeof value === "string") return has(value);
  if (typeof value === "number") return has(String(value));
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof member === "string" && has(member)) return true;
  }
  return false;
}

function distinctPaths(plan: FilterPlan): ValuePath[] {
  const paths = new Map(pathsOf(plan).map((path) => [path.join("\0"), path]));
  if (paths.size > queryLimits.filterPaths)
    throw invalid(
      `a filter refers to at most ${queryLimits.filterPaths} properties`,
    );
  return [...paths.values()];
}

const identities = new WeakMap<Predicate, number>();
let lastIdentity = 0;

function identityOf(predicate: Predicate | undefined): number {
  if (predicate === undefined) return 0;
  const identity = identities.get(predicate) ?? ++lastIdentity;
  identities.set(predicate, identity);
  return identity;
}
