import { XoError } from "@xo-server/model";

/** Maximum nesting depth of a parameter. */
const MAX_DEPTH = 64;

/** A parameter that every transport can encode: without bigint, Date, NaN and undefined. */
export type WireValue =
  | string
  | number
  | boolean
  | null
  | readonly WireValue[]
  | { readonly [name: string]: WireValue };

/**
 * XAPI also accepts integers and floats as strings (WIRE.md 5): used for 64-bit
 * integers, NaN and infinities.
 * @throws XoError INVALID_PARAMETERS
 */
export function toWireValue(value: unknown, depth = 0): WireValue {
  if (depth > MAX_DEPTH) throw invalid("nested too deep");
  switch (typeof value) {
    case "string":
      return checkText(value);
    case "boolean":
      return value;
    case "bigint":
      return value.toString();
    case "number":
      return toWireNumber(value);
    case "object":
      return value === null ? null : toWireObject(value, depth);
    case "undefined":
    case "function":
    case "symbol":
      throw invalid(`a value of type ${typeof value}`);
  }
}

/** Half a surrogate pair: no encoding has it, and XAPI answers it with HTTP 500. */
const HALF_CHARACTER = /\p{Surrogate}/u;

function checkText(text: string): string {
  if (HALF_CHARACTER.test(text))
    throw invalid("text with an incomplete character (half a surrogate pair)");
  return text;
}

function toWireNumber(value: number): WireValue {
  if (Number.isNaN(value)) return "nan";
  if (value === Infinity) return "inf";
  return value === -Infinity ? "-inf" : value;
}

function toWireObject(value: object, depth: number): WireValue {
  if (value instanceof Date) return toDateTime(value);
  if (Array.isArray(value))
    return value.map((item: unknown) => toWireValue(item, depth + 1));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const members: [string, WireValue][] = [];
  for (const [name, member] of entries as [unknown, unknown][]) {
    if (member !== undefined)
      members.push([checkText(String(name)), toWireValue(member, depth + 1)]);
  }
  return Object.fromEntries(members);
}

/** `20261121T03:54:40Z` */
function toDateTime(date: Date): string {
  if (Number.isNaN(date.getTime())) throw invalid("an invalid Date");
  return date.toISOString().replace(/-|\.\d+/g, "");
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
