import { closest } from "fastest-levenshtein";
import {
  isProperty,
  objectTypes,
  parseFilter,
  propertiesOf,
  type Filter,
  type Queries,
} from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { isTypingError } from "../validation/schema-problem.js";

/** Names of properties in a request. Paths are `memory.size` or `memory:size`. */
export interface NamedProperties {
  readonly type?: string;
  readonly filter?: string;
  readonly sort?: readonly { readonly by: string }[];
  readonly fields?: readonly string[];
  readonly paths?: readonly string[];
}

/** Member of objects that contains the current metrics. */
const METRICS = "now";
/** Maximum length of an unknown type in an error, in characters. */
const MAX_SHOWN = 40;
/** Maximum number of objects that are read to find a property that no table lists. */
const MAX_READ = 32;

/**
 * Rejects properties that objects of no type can have; a property of any type is
 * accepted, because clients send the same fields and filters for several types.
 * Objects of a type without a view may have any property.
 * @throws XoError INVALID_PARAMETERS with the nearest name, FILTER_INVALID
 */
export function checkProperties(request: NamedProperties): void {
  const unknown = unknownOf(request);
  if (unknown !== undefined) throw toError(request.type!, unknown);
}

/**
 * Like `checkProperties`, for requests of clients: also accepts a property of one
 * of the first objects of the type. The type must be known.
 */
export async function checkRequestedProperties(
  request: NamedProperties,
  queries: Pick<Queries, "page">,
): Promise<void> {
  const { type = "" } = request;
  if (request.type !== undefined && !objectTypes.includes(type))
    throw unknownType(type);
  const unknown = unknownOf(request);
  if (unknown === undefined) return;
  const query = { type, sort: [], limit: MAX_READ, fields: [unknown] };
  const { rows } = await queries.page(query);
  const isKnown = rows.some((row) =>
    Object.hasOwn(JSON.parse(row.toString()) as object, unknown),
  );
  if (!isKnown) throw toError(type, unknown);
}

/**
 * Rejects properties that no object of the type has. Also rejects metrics, because
 * rights are evaluated only when an object changes.
 * @param type `*`: any type
 * @throws XoError INVALID_PARAMETERS with the nearest name, FILTER_INVALID
 */
export function checkSelectorProperties(type: string, filter: string): void {
  const known =
    type === "*"
      ? new Set(objectTypes.flatMap((one) => [...propertiesOf(one)!]))
      : propertiesOf(type);
  const names = namesIn(parseFilter(filter)).map(topLevelOf);
  const unknown = names.find((name) => known?.has(name) === false);
  if (unknown !== undefined)
    throw toError(type === "*" ? "any type" : type, unknown, [...known!]);
}

/** The top-level property of a path. */
export function topLevelOf(path: string): string {
  return path.split(/[.:]/, 1)[0]!;
}

function unknownOf(request: NamedProperties): string | undefined {
  const { type, filter, sort = [], fields = [], paths = [] } = request;
  const known = type === undefined ? undefined : propertiesOf(type);
  if (known === undefined) return undefined;
  const names = [
    ...(filter === undefined ? [] : namesIn(parseFilter(filter))),
    ...sort.map(({ by }) => by),
    ...fields,
    ...paths,
  ];
  return names
    .map(topLevelOf)
    .find((name) => name !== METRICS && !known.has(name) && !isProperty(name));
}

function namesIn(filter: Filter): readonly string[] {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.terms.flatMap(namesIn);
    case "not":
      return namesIn(filter.term);
    case "property":
    case "truthy":
      return [filter.name];
    case "compare":
    case "text":
    case "glob":
    case "regex":
      return [];
  }
}

function unknownType(type: string): XoError {
  const shown = type.slice(0, MAX_SHOWN);
  const nearest = closest(shown, [...objectTypes]);
  const hint = isTypingError(shown, nearest)
    ? `did you mean "${nearest}"?`
    : `known types: ${objectTypes.join(", ")}`;
  return new XoError("INVALID_PARAMETERS", {
    reason: `unknown type "${shown}"; ${hint}`,
  });
}

function toError(
  type: string,
  name: string,
  known = [...propertiesOf(type)!, METRICS],
): XoError {
  const nearest = closest(name, known);
  const hint = isTypingError(name, nearest)
    ? `did you mean "${nearest}"?`
    : `the nearest known property is "${nearest}"`;
  return new XoError("INVALID_PARAMETERS", {
    reason: `unknown property "${name}" of ${type}; ${hint}`,
  });
}
