/** JSON Schema of a parameter, as system.getMethodsInfo reports it. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly pattern?: string;
  readonly optional?: boolean;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

/** Fits the name and the schema of a string parameter; called once for each value. */
export type StringSource = (name: string) => string;

const SAMPLES = [
  "c",
  "1",
  "2001:db8::1",
  "192.0.2.1",
  "02:00:00:00:00:01",
  "https://192.0.2.1/",
  "a@example.org",
  "00:00",
  "2026-01-01",
];
/** Messages of clients are smaller than 1 MiB unless configured otherwise. */
const LARGEST_BYTES = 1_000_000;
const MAX_ITEMS = 50_000;

/** A small value that the schema accepts. */
export function smallValue(
  schema: Schema,
  name: string,
  strings: StringSource,
): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined)
    return smallValue(schema.anyOf[0]!, name, strings);
  const { type, minItems = 1, items = {}, required = [] } = schema;
  if (type === "null") return null;
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "array")
    return Array.from({ length: minItems }, () =>
      smallValue(items, name, strings),
    );
  if (type === "object")
    return Object.fromEntries(
      required.map((key) => [
        key,
        smallValue(schema.properties?.[key] ?? {}, key, strings),
      ]),
    );
  return fitting(strings(name), schema);
}

/**
 * The largest value that the schema and a message allow: a full list, a long
 * string, an object with many keys. Undefined: the schema has no large values.
 */
export function largeValue(
  schema: Schema,
  name: string,
  strings: StringSource,
): unknown {
  if (schema.const !== undefined || schema.enum !== undefined) return undefined;
  if (schema.anyOf !== undefined)
    return schema.anyOf
      .map((one) => largeValue(one, name, strings))
      .find((value) => value !== undefined);
  const { type, maxItems = MAX_ITEMS, items = {} } = schema;
  if (type === "array")
    return repeat(Math.min(maxItems, MAX_ITEMS), () =>
      smallValue(items, name, strings),
    );
  const values = keyedValues(schema);
  if (values !== undefined) {
    const entries = repeat(MAX_ITEMS, (i) => [
      `key${i}`,
      smallValue(values, name, strings),
    ]);
    return Object.fromEntries(entries as [string, unknown][]);
  }
  if (type !== "string" || schema.pattern !== undefined) return undefined;
  return longText(name, schema.maxLength ?? LARGEST_BYTES);
}

/** The schema of the values, where clients choose the keys. */
function keyedValues({
  type,
  patternProperties,
  additionalProperties,
}: Schema): Schema | undefined {
  if (type !== "object") return undefined;
  const [first] = Object.values(patternProperties ?? {});
  if (first !== undefined) return first;
  if (typeof additionalProperties === "object") return additionalProperties;
  return additionalProperties === true ? {} : undefined;
}

function repeat(most: number, create: (i: number) => unknown): unknown[] {
  const values: unknown[] = [];
  let bytes = 0;
  while (values.length < most && bytes < LARGEST_BYTES) {
    const value = create(values.length);
    bytes += JSON.stringify(value ?? null).length + 1;
    values.push(value);
  }
  return values;
}

/** Filters are parsed: they get many conditions. */
function longText(name: string, most: number): string {
  const part = /filter|pattern|search/i.test(name)
    ? "name_label:/(a|b)*c/ | "
    : "long text ";
  const length = Math.min(most, LARGEST_BYTES);
  const times = Math.max(1, Math.floor(length / part.length));
  return part.repeat(times).replace(/[ |]+$/, "");
}

function fitting(text: string, { pattern, maxLength }: Schema): string {
  const fits = (one: string) =>
    one.length <= (maxLength ?? Infinity) &&
    (pattern === undefined || new RegExp(pattern).test(one));
  return [text, ...SAMPLES].find(fits) ?? text;
}
