/** JSON Schema of a parameter, as system.getMethodsInfo reports it. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly optional?: boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Of maps, by a pattern of their keys. */
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** A value that the schema accepts; strings are the id. */
export function fillSchema(schema: Schema, id: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return fillSchema(schema.anyOf[0]!, id);
  const { type, minItems = 1, items = {}, required = [] } = schema;
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "array")
    return Array.from({ length: minItems }, () => fillSchema(items, id));
  if (type === "object")
    return Object.fromEntries(
      required.map((key) => [
        key,
        fillSchema(schema.properties?.[key] ?? {}, id),
      ]),
    );
  return fitting(schema, id);
}

function fitting(
  { pattern = "", maxLength = Infinity }: Schema,
  id: string,
): string {
  const tries = [id, "192.0.2.1", "c", "1", "2001:db8::1", "02:00:00:00:00:01"];
  const isFitting = (text: string) =>
    text.length <= maxLength && new RegExp(pattern).test(text);
  return tries.find(isFitting) ?? id;
}

/**
 * Values that the schema accepts, each with the id `other` in another string
 * inside a list, object or map (as a key too); other strings are `own`.
 */
export function nestedValues(
  schema: Schema,
  own: string,
  other: string,
): unknown[] {
  const inside = (one: Schema): unknown[] => {
    if (one.anyOf !== undefined) return one.anyOf.flatMap(inside);
    if (one.type === "array")
      return valuesOf(one.items ?? {}).map((value) => [value]);
    if (one.type !== "object") return [];
    const base = fillSchema(one, own) as object;
    const members = Object.entries(one.properties ?? {}).flatMap(
      ([name, member]) =>
        valuesOf(member).map((value) => ({ ...base, [name]: value })),
    );
    const entries = Object.values(one.patternProperties ?? {}).flatMap(
      (value) => [
        { ...base, [other]: fillSchema(value, own) },
        ...valuesOf(value).map((nested) => ({ ...base, [own]: nested })),
      ],
    );
    return [...members, ...entries];
  };
  const valuesOf = (one: Schema): unknown[] => {
    const isPlain =
      one.type === "string" &&
      one.enum === undefined &&
      one.const === undefined;
    return isPlain ? [fillSchema(one, other)] : inside(one);
  };
  return inside(schema);
}
