/** Orders of keys that were sorted lately, by the number of keys. */
const SHAPES_KEPT = 8;
const MOST_KEYS_KEPT = 128;

interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
}

const shapes = new Map<number, Shape[]>();

/**
 * The canonical JSON of a value (RFC 8785): keys sorted by their UTF-16 code
 * units, no spaces, numbers and strings as JSON.stringify writes them.
 * Undefined members are left out. BigInts, which JSON has not, become numbers.
 */
export function canonicalJson(value: unknown): string {
  const ordered = inOrder(value);
  return ordered === undefined ? write(value) : JSON.stringify(ordered);
}

/** The value with all keys in order, so that JSON.stringify can do the rest; undefined where objects cannot have that order. */
function inOrder(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Array.isArray(value)
    ? arrayInOrder(value)
    : objectInOrder(value as Record<string, unknown>);
}

function arrayInOrder(array: readonly unknown[]): unknown {
  let ordered = array as unknown[];
  for (let i = 0; i < array.length; i++) {
    const member = array[i];
    // Most are texts: references, tags, ids.
    if (typeof member === "string") continue;
    const inside = inOrder(member);
    if (inside === undefined) return undefined;
    if (inside === member) continue;
    if (ordered === array) ordered = array.slice();
    ordered[i] = inside;
  }
  return ordered;
}

function objectInOrder(object: Record<string, unknown>): unknown {
  const keys = Object.keys(object);
  const sorted = isSorted(keys) ? keys : sortedKeys(keys);
  let ordered = sorted === keys ? object : undefined;
  for (let i = 0; i < sorted.length; i++) {
    const key = sorted[i]!;
    if (isUnorderable(key)) return undefined;
    const member = object[key];
    const isPlain = typeof member !== "object" && typeof member !== "bigint";
    const inside = isPlain ? member : inOrder(member);
    if (inside === undefined && member !== undefined) return undefined;
    if (ordered === object && inside === member) continue;
    // From the first difference on, into a copy.
    if (ordered === undefined || ordered === object)
      ordered = firstMembers(object, sorted, i);
    ordered[key] = inside;
  }
  return ordered ?? {};
}

function firstMembers(
  object: Record<string, unknown>,
  keys: readonly string[],
  count: number,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let i = 0; i < count; i++) copy[keys[i]!] = object[keys[i]!];
  return copy;
}

/** Keys that look like an array's index come first in every object, and `__proto__` is no member when it is assigned. */
function isUnorderable(key: string): boolean {
  const first = key.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39) return /^(?:0|[1-9]\d*)$/.test(key);
  return key === "__proto__";
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++)
    if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

/** Objects of a class have few shapes: sorting their 60 keys each time would cost more than all the rest. */
function sortedKeys(keys: readonly string[]): readonly string[] {
  if (keys.length > MOST_KEYS_KEPT) return keys.toSorted();
  const known = shapes.get(keys.length) ?? [];
  for (const shape of known) if (isSame(shape.keys, keys)) return shape.sorted;
  const sorted = keys.toSorted();
  if (known.length === SHAPES_KEPT) known.shift();
  known.push({ keys, sorted });
  shapes.set(keys.length, known);
  return sorted;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}

/** The same as text, member by member: for the few objects whose keys cannot be put in order. */
function write(value: unknown): string {
  if (typeof value === "bigint") return String(Number(value));
  if (typeof value !== "object" || value === null)
    return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  const object = value as Record<string, unknown>;
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${write(object[key])}`);
  return `{${members.join(",")}}`;
}
