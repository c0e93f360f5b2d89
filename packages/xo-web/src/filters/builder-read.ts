import type { Filter } from "@xo-server/filter";
import {
  NotShownError,
  numberOperators,
  operatorsOf,
  type BuilderGroup,
  type BuilderRow,
  type RowOperator,
} from "./builder-rows.js";
import { propertiesOf, filterNames, type Property } from "./properties.js";
import { unescapePattern } from "./value-text.js";

/** Maximum nesting of groups that the form shows. */
const DEPTH = 3;

/**
 * A filter as rows of a form.
 * @throws NotShownError with the part that has no row
 */
export function readGroup(filter: Filter, type: string): BuilderGroup {
  const part = readPart(filter, { type, names: [], depth: 0 });
  if (part.kind === "group") return part;
  return { kind: "group", mode: "all", parts: [part] };
}

interface TermContext {
  readonly type: string;
  /** Path of the enclosing properties. */
  readonly names: readonly string[];
  readonly depth: number;
}

function readPart(
  filter: Filter,
  context: TermContext,
): BuilderRow | BuilderGroup {
  switch (filter.kind) {
    case "and":
    case "or":
      return readTerms(filter, context);
    case "property": {
      const names = [...context.names, filter.name];
      return readPart(filter.term, { ...context, names });
    }
    case "not":
      // The negation of a nested value also matches objects without the property, so it differs from the
      // negation of the whole.
      if (context.names.length > 0) throw new NotShownError(filter);
      return negate(readPart(filter.term, context), filter);
    case "truthy":
    case "compare":
    case "text":
    case "glob":
    case "regex":
      return readValue(filter, context);
  }
}

/** `tags:(a b)` are two rows: each is a condition on the same property. */
function readTerms(
  filter: Filter & { kind: "and" | "or" },
  context: TermContext,
): BuilderGroup {
  if (context.depth === DEPTH) throw new NotShownError(filter);
  return {
    kind: "group",
    mode: filter.kind === "and" ? "all" : "any",
    parts: filter.terms.map((term) =>
      readPart(term, { ...context, depth: context.depth + 1 }),
    ),
  };
}

const opposites: Partial<Record<RowOperator, RowOperator>> = {
  contains: "notContains",
  is: "isNot",
  equal: "notEqual",
  yes: "no",
  any: "none",
};

function negate(part: BuilderRow | BuilderGroup, filter: Filter): BuilderRow {
  const operator = part.kind === "row" ? opposites[part.operator] : undefined;
  if (part.kind !== "row" || operator === undefined)
    throw new NotShownError(filter);
  return { ...part, operator };
}

function readValue(filter: Filter, { type, names }: TermContext): BuilderRow {
  const property = propertiesOf(type).find(
    ({ path }) => filterNames(path).join("\0") === nameKey(names, filter),
  );
  const path = property?.path ?? pathOf(names, filter);
  if (path === undefined) throw new NotShownError(filter);
  const found = operatorAndValue(filter, property);
  const kind = path === "" ? "anywhere" : (property?.kind ?? "unknown");
  const operators: readonly RowOperator[] = operatorsOf(kind);
  if (found === undefined || !operators.includes(found.operator))
    throw new NotShownError(filter);
  return { kind: "row", path, ...found };
}

function nameKey(names: readonly string[], filter: Filter): string {
  return (filter.kind === "truthy" ? [...names, filter.name] : names).join(
    "\0",
  );
}

/** Path of a property that is not in the table; undefined if its dots would be parsed as nesting. */
function pathOf(names: readonly string[], filter: Filter): string | undefined {
  const all = filter.kind === "truthy" ? [...names, filter.name] : names;
  const path = all.join(".");
  return filterNames(path).length === Math.max(all.length, 1)
    ? path
    : undefined;
}

function operatorAndValue(
  filter: Filter,
  property: Property | undefined,
): { operator: RowOperator; value: string } | undefined {
  switch (filter.kind) {
    case "truthy":
      return {
        operator: property?.kind === "boolean" ? "yes" : "any",
        value: "",
      };
    case "compare":
      return {
        operator: comparisonOf(filter.operator),
        value: String(filter.number),
      };
    case "glob":
      return { operator: "like", value: filter.pattern };
    case "text":
      return readText(filter, property);
    case "regex":
      return filter.ignoreCase
        ? undefined
        : readPattern(filter.source, property);
    case "and":
    case "or":
    case "not":
    case "property":
      return undefined;
  }
}

function comparisonOf(sign: string): RowOperator {
  const found = Object.entries(numberOperators).find(([, one]) => one === sign);
  return found![0] as RowOperator;
}

function readText(
  { text, number }: Filter & { kind: "text" },
  property: Property | undefined,
): { operator: RowOperator; value: string } | undefined {
  const kind = property?.kind;
  if (kind === "object") return { operator: "is", value: text };
  if (kind === "choice") {
    const value = property!.choices!.find((one) => isSame(one, text));
    // The form cannot express a part of a value where a whole value is chosen.
    return value === undefined ? undefined : { operator: "is", value };
  }
  if (number !== undefined && (kind === "number" || property === undefined))
    return { operator: "equal", value: text };
  return number === undefined
    ? { operator: "contains", value: text }
    : undefined;
}

function readPattern(
  source: string,
  property: Property | undefined,
): { operator: RowOperator; value: string } {
  const start = unescapePattern(source.slice(1));
  const whole = unescapePattern(source.slice(1, -1));
  const isAnchored = source.startsWith("^");
  if (isAnchored && source.endsWith("$") && whole && hasWhole(property, whole))
    return { operator: "is", value: whole };
  if (isAnchored && start) return { operator: "starts", value: start };
  return { operator: "matches", value: source };
}

/** Whether a value of the property is written as a pattern for the whole value. */
function hasWhole(property: Property | undefined, value: string): boolean {
  return property?.kind !== "choice" || property.choices!.includes(value);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
