import type { Filter } from "@xo-server/filter";
import {
  hasValue,
  numberOperators,
  type BuilderGroup,
  type BuilderRow,
} from "./builder-rows.js";
import { filterNames, propertyOf } from "./properties.js";
import { escapePattern } from "./value-text.js";

/** The filter of a form; rows without a value are ignored. */
export function writeGroup(group: BuilderGroup, type: string): Filter {
  const terms = group.parts.flatMap((part) => {
    if (part.kind === "row") return writeRow(part, type) ?? [];
    const inner = writeGroup(part, type);
    return isEmpty(inner) ? [] : [inner];
  });
  if (terms.length === 1) return terms[0]!;
  const kind = group.mode === "all" || terms.length === 0 ? "and" : "or";
  return { kind, terms };
}

/** The first row whose value is not a valid condition, so that `writeGroup` leaves it out. */
export function invalidRow(
  group: BuilderGroup,
  type: string,
): BuilderRow | undefined {
  for (const part of group.parts) {
    const found =
      part.kind === "group"
        ? invalidRow(part, type)
        : isInvalid(part, type)
          ? part
          : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isInvalid(row: BuilderRow, type: string): boolean {
  if (!hasValue(row.operator)) return false;
  if (row.unknownName !== undefined) return true;
  return row.value !== "" && writeRow(row, type) === undefined;
}

function isEmpty(filter: Filter): boolean {
  return filter.kind === "and" && filter.terms.length === 0;
}

function writeRow(
  { path, operator, value }: BuilderRow,
  type: string,
): Filter | undefined {
  const isPlain = ["yes", "no", "any", "none"].includes(operator);
  if (isPlain) return writeFlag(path, operator === "yes" || operator === "any");
  if (value === "") return undefined;
  const kind = propertyOf(type, path)?.kind;
  const term = writeValue(
    operator,
    value,
    kind === "choice" || kind === "object",
  );
  if (term === undefined) return undefined;
  const whole = within(path, term);
  return operator.startsWith("not") || operator === "isNot"
    ? { kind: "not", term: whole }
    : whole;
}

function writeFlag(path: string, holds: boolean): Filter {
  const names = [...filterNames(path)];
  const name = names.pop()!;
  const term = nest(names, { kind: "truthy", name });
  return holds ? term : { kind: "not", term };
}

/** @param isWhole no value is a part of another one, so that plain text is sufficient */
function writeValue(
  operator: BuilderRow["operator"],
  value: string,
  isWhole: boolean,
): Filter | undefined {
  const regex = (source: string): Filter => ({
    kind: "regex",
    source,
    ignoreCase: false,
  });
  switch (operator) {
    case "contains":
    case "notContains":
      return writeText(value);
    case "is":
    case "isNot":
      return isWhole ? writeText(value) : regex(`^${escapePattern(value)}$`);
    case "starts":
      return regex(`^${escapePattern(value)}`);
    case "like":
      return writeGlob(value);
    case "matches":
      return isPattern(value) ? regex(value) : undefined;
    case "equal":
    case "notEqual":
      return writeNumber(value);
    case "above":
    case "atLeast":
    case "below":
    case "atMost":
      return writeComparison(numberOperators[operator], value);
    case "yes":
    case "no":
    case "any":
    case "none":
      return undefined;
  }
}

function writeText(text: string): Filter {
  return { kind: "text", text };
}

/** Adds a star if there is none: a pattern without one would be read as a word. */
function writeGlob(value: string): Filter | undefined {
  const pattern = value.includes("*") ? value : `${value}*`;
  return /^[\p{L}\p{M}\p{Nd}_\-.$*]+$/u.test(pattern)
    ? { kind: "glob", pattern }
    : undefined;
}

function writeNumber(value: string): Filter | undefined {
  const number = Number(value);
  return Number.isFinite(number)
    ? { kind: "text", text: value, number }
    : undefined;
}

function writeComparison(
  operator: (Filter & { kind: "compare" })["operator"],
  value: string,
): Filter | undefined {
  const number = Number(value);
  return Number.isFinite(number)
    ? { kind: "compare", operator, number }
    : undefined;
}

function within(path: string, term: Filter): Filter {
  return path === "" ? term : nest(filterNames(path), term);
}

function nest(names: readonly string[], term: Filter): Filter {
  return names.reduceRight<Filter>(
    (inner, name) => ({ kind: "property", name, term: inner }),
    term,
  );
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    // The message of the regular expression engine is in English only.
    return false;
  }
}
