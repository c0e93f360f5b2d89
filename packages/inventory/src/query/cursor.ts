import { createHash } from "node:crypto";
import { invalid } from "./request.js";
import type { SortPath } from "./request.js";
import type { Position } from "./row-order.js";
import type { SortValue } from "./sort-value.js";

/** Eight sort values of 256 characters, an id, and what base64 adds. */
const MAX_LENGTH = 16_384;

/** What tells one order from another, in the cursor. */
function orderHash(sort: readonly SortPath[]): string {
  const text = JSON.stringify(sort);
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

/** A position as text for clients: it means the same in another process. */
export function toCursor(
  { values, id }: Position,
  sort: readonly SortPath[],
): string {
  const text = JSON.stringify([orderHash(sort), values, id]);
  return Buffer.from(text).toString("base64url");
}

/** @throws XoError INVALID_PARAMETERS for anything but a cursor of the same order */
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
  if (!isPosition) throw invalid("`after` is no cursor");
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
    // Said below.
  }
  throw invalid("`after` is no cursor");
}

function isSortValue(value: unknown): value is SortValue {
  return (
    value === null || typeof value === "number" || typeof value === "string"
  );
}
