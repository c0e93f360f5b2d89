import { NULL_REF, datamodel } from "@xo-server/model";
import { NEVER } from "./clock.js";
import type { XapiRecord, XapiValue } from "./xapi-value.js";

/** The datamodel's notation of a type as a tree. */
export type FieldType =
  | { readonly kind: "string" | "int" | "float" | "bool" | "datetime" | "any" }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "ref"; readonly className: string }
  | { readonly kind: "record"; readonly className: string }
  | { readonly kind: "set"; readonly of: FieldType }
  | { readonly kind: "option"; readonly of: FieldType }
  | {
      readonly kind: "map";
      readonly key: FieldType;
      readonly value: FieldType;
    };

const cache = new Map<string, FieldType>();

/** `VM ref set`, `(string -> enum vm_operations) map`, `sr_stat record option` ... */
export function fieldType(notation: string): FieldType {
  let type = cache.get(notation);
  if (type === undefined) {
    type = parse(notation);
    cache.set(notation, type);
  }
  return type;
}

function parse(notation: string): FieldType {
  const suffixed = /^(.+) (set|option|map|ref|record)$/.exec(notation);
  if (suffixed !== null) return parseSuffixed(suffixed[1]!, suffixed[2]!);
  if (notation.startsWith("enum "))
    return { kind: "enum", name: notation.slice(5) };
  switch (notation) {
    case "string":
    case "int":
    case "float":
    case "bool":
    case "datetime":
      return { kind: notation };
    default:
      return { kind: "any" };
  }
}

function parseSuffixed(inner: string, suffix: string): FieldType {
  switch (suffix) {
    case "set":
      return { kind: "set", of: fieldType(inner) };
    case "option":
      return { kind: "option", of: fieldType(inner) };
    case "ref":
      return { kind: "ref", className: inner };
    case "record":
      return { kind: "record", className: inner };
    default: {
      // (KEY -> VALUE)
      const arrow = inner.indexOf(" -> ");
      return {
        kind: "map",
        key: fieldType(inner.slice(1, arrow)),
        value: fieldType(inner.slice(arrow + 4, -1)),
      };
    }
  }
}

/** The default of a field, as XAPI's database fills it in. */
function emptyValue(type: FieldType): XapiValue {
  switch (type.kind) {
    case "int":
    case "float":
      return 0;
    case "bool":
      return false;
    case "datetime":
      return NEVER;
    case "ref":
      return NULL_REF;
    case "set":
    case "option":
      return [];
    case "map":
    case "record":
      return {};
    case "enum":
      return datamodel.enums[type.name]?.[0] ?? "";
    case "string":
    case "any":
      return "";
  }
}

const templates = new Map<string, XapiRecord>();

/** A record of a class with every field at its default, members in the datamodel's order. */
export function defaultRecord(className: string): XapiRecord {
  let record = templates.get(className);
  if (record === undefined) {
    const fields = datamodel.classes[className]?.fields ?? {};
    record = Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        defaultValue(fieldType(field.type), field.default),
      ]),
    );
    templates.set(className, record);
  }
  return record;
}

/** The datamodel writes the defaults of floats as OCaml does: `"1."`. */
function defaultValue(type: FieldType, value: unknown): XapiValue {
  if (value === undefined) return emptyValue(type);
  return type.kind === "float" ? Number(value) : (value as XapiValue);
}
