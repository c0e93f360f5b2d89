/** JSON Schema of a parameter, as system.getMethodsInfo reports it. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly pattern?: string;
  readonly optional?: boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
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
  return schema.pattern === undefined ? id : fitting(schema.pattern, id);
}

function fitting(pattern: string, id: string): string {
  const tries = [id, "c", "1", "2001:db8::1", "192.0.2.1", "02:00:00:00:00:01"];
  return tries.find((text) => new RegExp(pattern).test(text)) ?? id;
}
