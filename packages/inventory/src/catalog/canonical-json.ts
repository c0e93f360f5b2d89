/** Orders of keys that were sorted lately, by the number of keys. */
const SHAPES_KEPT = 8;
const MOST_KEYS_KEPT = 128;

/** Objects of a class have few shapes: sorting their 60 keys each time would cost more than all the rest. */
interface Shape {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** The sorted keys as they stand before their values: `"key":`. */
  readonly quoted: readonly string[];
}

const shapes = new Map<number, Shape[]>();

/**
 * The canonical JSON of a value (RFC 8785): keys sorted by their UTF-16 code
 * units, no spaces, numbers and strings as JSON.stringify writes them.
 * Undefined members are left out. BigInts, which JSON has not, become numbers.
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
 * The same of an object, member by member.
 * @param onMember hears where each begins, in code units
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

/** Would JSON.stringify write it canonically? */
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
  if (keys.length > MOST_KEYS_KEPT) return createShape(keys);
  const known = shapes.get(keys.length) ?? [];
  for (const shape of known) if (isSame(shape.keys, keys)) return shape;
  const shape = createShape(keys);
  if (known.length === SHAPES_KEPT) known.shift();
  known.push(shape);
  shapes.set(keys.length, known);
  return shape;
}

function createShape(keys: readonly string[]): Shape {
  const sorted = keys.toSorted();
  const quoted = sorted.map((key) => `${JSON.stringify(key)}:`);
  return { keys, sorted, quoted };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}
