/** Number of key orders that are cached per number of keys. */
const MAX_SHAPES = 8;
const MAX_CACHED_KEYS = 128;

/**
 * The keys of an object in insertion order, and sorted. Objects of a class have
 * few shapes; sorting their 60 keys each time would dominate the cost of
 * encoding.
 */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** The sorted keys as they precede their values: `"key":`. */
  readonly quoted: readonly string[];
}

/** By number of keys; the oldest shape is dropped at MAX_SHAPES. */
const shapes = new Map<number, Shape[]>();

/**
 * Canonical JSON of a value (RFC 8785): keys sorted by UTF-16 code units, no
 * spaces, numbers and strings as JSON.stringify writes them. Undefined members
 * are omitted; BigInts, which JSON does not have, become numbers; values that
 * JSON cannot represent become `null`.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? `${value}` : "null";
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return `${Number(value)}`;
    case "object":
      if (value === null) return "null";
      if (isCanonical(value)) return JSON.stringify(value);
      return Array.isArray(value)
        ? `[${value.map(canonicalJson).join(",")}]`
        : canonicalMembers(value as Record<string, unknown>, () => undefined);
    case "undefined":
    case "function":
    case "symbol":
      return "null";
  }
}

/**
 * Canonical JSON of an object.
 * @param onMember called with the offset of each member in code units
 */
export function canonicalMembers(
  object: Readonly<Record<string, unknown>>,
  onMember: (at: number) => void,
): string {
  const { sorted, quoted } = shapeOf(Object.keys(object));
  let text = "{";
  for (let i = 0; i < sorted.length; i++) {
    const value = object[sorted[i]!];
    if (value === undefined) continue;
    if (text.length > 1) text += ",";
    onMember(text.length);
    text += quoted[i]!;
    text += canonicalJson(value);
  }
  return `${text}}`;
}

/**
 * Whether JSON.stringify produces canonical JSON: all keys are sorted and there
 * is no BigInt.
 */
function isCanonical(value: object): boolean {
  if (Array.isArray(value)) return value.every(isCanonicalMember);
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 && keys[i - 1]! > keys[i]!) return false;
    if (!isCanonicalMember((value as Record<string, unknown>)[keys[i]!]))
      return false;
  }
  return true;
}

function isCanonicalMember(member: unknown): boolean {
  if (typeof member === "bigint") return false;
  return typeof member !== "object" || member === null || isCanonical(member);
}

function shapeOf(keys: readonly string[]): Shape {
  if (keys.length > MAX_CACHED_KEYS) return createShape(keys);
  const cached = shapes.get(keys.length) ?? [];
  for (const shape of cached) if (isSame(shape.keys, keys)) return shape;
  const shape = createShape(keys);
  if (cached.length === MAX_SHAPES) cached.shift();
  cached.push(shape);
  shapes.set(keys.length, cached);
  return shape;
}

function createShape(keys: readonly string[]): Shape {
  const sorted = keys.toSorted();
  const quoted = sorted.map((key) => `${JSON.stringify(key)}:`);
  return { keys, sorted, quoted };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
