import { invalidInput } from "../../errors/invalid-input.js";

/** Decoded query of a request; the value of a repeated name is an array. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** @throws XoError INVALID_PARAMETERS: the name is repeated */
export function readText(query: QueryValues, name: string): string | undefined {
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  if (value === undefined || typeof value === "string") return value;
  throw invalidInput({
    [name]: { message: "specified more than once", value },
  });
}

/** Reads `true` or `false`, in any case; absent: false. */
export function readBoolean(query: QueryValues, name: string): boolean {
  return toBoolean(name, readText(query, name) ?? "false");
}

/** @throws XoError INVALID_PARAMETERS */
export function toBoolean(name: string, value: string): boolean {
  // Clients in Python send `True` and `False`.
  const lower = value.toLowerCase();
  if (lower === "true") return true;
  if (lower === "false") return false;
  throw invalidInput({ [name]: { message: "invalid boolean value", value } });
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** @throws XoError INVALID_PARAMETERS */
export function toNumber(name: string, value: string): number {
  if (NUMBER.test(value)) return Number(value);
  throw invalidInput({ [name]: { message: "invalid float number", value } });
}

/** @throws XoError INVALID_PARAMETERS: not an integer of at least 0 */
export function readCount(
  query: QueryValues,
  name: string,
): number | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const value = toNumber(name, text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidInput({
    [name]: { message: "must be an integer, at least 0", value: text },
  });
}
