import { createHash } from "node:crypto";
import { invalid } from "./request.js";
import type { SortPath } from "./request.js";
import type { Position } from "./row-order.js";
import type { SortValue } from "./sort-value.js";

/** Eight sort values of 256 characters, an id, and the overhead of base64. */
const MAX_LENGTH = 16_384;

/** Identifies the sort order in a cursor. */
function orderHash(sort: readonly SortPath[]): string {
  const text = JSON.stringify(sort);
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

/** Encodes a position as an opaque string for clients, valid across restarts. */
export function toCursor(
  { values, id }: Position,
  sort: readonly SortPath[],
): string {
  const text = JSON.stringify([orderHash(sort), values, id]);
  return Buffer.from(text).toString("base64url");
}

/**
 * @throws XoError INVALID_PARAMETERS for an invalid cursor or one of another
 *   order
 */
export function fromCursor(
  cursor: string,
  sort: readonly SortPath[],
): Position {
  const [mark, values, id] = decode(cursor);
  const isPosition =
    typeof id === "string" &&
    Array.isArray(values) &&
    values.length === sort.length &&
    values.every(isSortValue);
  if (!isPosition) throw invalid("`after` is not a cursor");
  if (mark !== orderHash(sort))
    throw invalid("`after` is a cursor of another order");
  return { values, id };
}

function decode(cursor: string): readonly unknown[] {
  if (cursor.length > MAX_LENGTH) throw invalid("`after` is too long");
  try {
    const text = Buffer.from(cursor, "base64url").toString();
    const parts = JSON.parse(text) as unknown;
    if (Array.isArray(parts)) return parts;
  } catch {
    // The error is thrown below.
  }
  throw invalid("`after` is not a cursor");
}

function isSortValue(value: unknown): value is SortValue {
  return (
    value === null || typeof value === "number" || typeof value === "string"
  );
}
