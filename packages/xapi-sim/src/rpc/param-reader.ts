import { datamodel } from "@xo-server/model";
import { fieldType, type FieldType } from "../field-type.js";
import { XapiFailure, internalError } from "../xapi-failure.js";
import type { XapiMap, XapiValue } from "../xapi-value.js";
import { describe, ocamlEscape, type WireValue } from "./wire-value.js";
import { parseFloatText } from "./xml-request.js";

/**
 * Makes a value of the datamodel's type from what came, as lenient and as strict
 * as XAPI: digits in a string are an int, `3.0` is not.
 *
 * @throws XapiFailure INTERNAL_ERROR with the text of XAPI's own exception
 */
export function readParam(type: FieldType, value: WireValue): XapiValue {
  switch (type.kind) {
    case "int":
      return readInt(value);
    case "bool":
      return value.t === "bool" ? value.v : expected("bool", value);
    case "float":
      return readFloat(value);
    case "datetime":
      return value.t === "datetime" || value.t === "string"
        ? value.v
        : expected("datetime", value);
    case "enum":
      return readEnum(type.name, value);
    case "set":
      if (value.t !== "array") expecting("Enum", value);
      return value.v.map((item) => readParam(type.of, item));
    case "map":
      return readMap(type, value);
    case "record":
      return readRecord(type.className, value);
    case "option":
      return readParam(type.of, value);
    case "string":
    case "ref":
    case "any":
      return readString(value);
  }
}

function readString(value: WireValue): string {
  return value.t === "string" ? value.v : expected("string", value);
}

function readInt(value: WireValue): number | bigint {
  if (value.t === "int") return narrow(value.v);
  if (value.t !== "string") expected("int64", value);
  if (!/^-?(\d+|0x[0-9a-f]+)$/i.test(value.v))
    throw internalError('Failure("Int64.of_string")');
  return narrow(BigInt(value.v));
}

function narrow(value: bigint): number | bigint {
  if (BigInt.asIntN(64, value) !== value)
    throw internalError('Failure("Int64.of_string")');
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function readFloat(value: WireValue): number {
  if (value.t === "float") return value.v;
  if (value.t === "int") return Number(value.v);
  if (value.t !== "string") expected("float", value);
  const number = parseFloatText(value.v);
  if (number === undefined) throw internalError('Failure("float_of_string")');
  return number;
}

/** Any case is taken, and becomes the datamodel's. */
function readEnum(name: string, value: WireValue): string {
  const text = readString(value);
  const values = datamodel.enums[name] ?? [];
  const found = values.find((v) => v.toLowerCase() === text.toLowerCase());
  if (found === undefined)
    throw internalError(
      name === "bond_mode"
        ? 'Failure("Unmarshalling error in bond-mode")'
        : 'Failure("Unknown tag/contents")',
    );
  return found;
}

function readMap(
  { key, value: itemType }: Extract<FieldType, { kind: "map" }>,
  value: WireValue,
): XapiMap {
  if (value.t !== "struct") expecting("Dict", value);
  return Object.fromEntries(
    value.v.map(([name, item]) => [
      key.kind === "enum" ? readEnum(key.name, { t: "string", v: name }) : name,
      readParam(itemType, item),
    ]),
  );
}

/** The record that a constructor takes: unknown members are ignored, missing optional ones filled in. */
function readRecord(className: string, value: WireValue): XapiMap {
  if (value.t !== "struct") expecting("Dict", value);
  const input = new Map(value.v);
  const record: Record<string, XapiValue> = {};
  const fields = datamodel.classes[className]?.fields ?? {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.qualifier === undefined || field.removed === true) continue;
    const member = input.get(name);
    if (member !== undefined)
      record[name] = readParam(fieldType(field.type), member);
    else if (field.default !== undefined)
      record[name] = field.default as XapiValue;
    else
      throw internalError(`Server_helpers.Dispatcher_FieldNotFound("${name}")`);
  }
  return record;
}

function expected(what: string, value: WireValue): never {
  throw internalError(
    `Failure("Expected ${what}, got '${ocamlEscape(describe(value))}'")`,
  );
}

function expecting(what: "Enum" | "Dict", value: WireValue): never {
  throw internalError(
    `Failure("Expecting Rpc.${what}, but found '${ocamlEscape(describe(value))}'")`,
  );
}

/**
 * What XAPI's database refuses: characters that XML 1.0 forbids, and empty keys.
 *
 * @throws XapiFailure INTERNAL_ERROR
 */
export function checkStorable(value: XapiValue): void {
  if (typeof value === "string") {
    if (FORBIDDEN.test(value)) throw internalError("Db_exn.Invalid_value");
  } else if (Array.isArray(value)) {
    for (const item of value as readonly XapiValue[]) checkStorable(item);
  } else if (typeof value === "object") {
    for (const [key, item] of Object.entries(value as XapiMap)) {
      if (key === "") throw internalError("Db_exn.Empty_key_in_map");
      checkStorable(key);
      checkStorable(item);
    }
  }
}

// eslint-disable-next-line no-control-regex -- these are the ones meant
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** The first string that is not UTF-8; strings have one byte per character. */
export function findInvalidUtf8(
  params: readonly WireValue[],
): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (const param of params) {
    if (param.t === "array") {
      const bad = findInvalidUtf8(param.v);
      if (bad !== undefined) return bad;
    } else if (param.t === "struct") {
      const bad = findInvalidUtf8(param.v.map(([, value]) => value));
      if (bad !== undefined) return bad;
    } else if (param.t === "string") {
      try {
        decoder.decode(Buffer.from(param.v, "latin1"));
      } catch {
        // The decoder is fatal: the bytes are not UTF-8.
        return param.v;
      }
    }
  }
  return undefined;
}

/** MESSAGE_METHOD_UNKNOWN */
export function unknownMethod(method: string): XapiFailure {
  return new XapiFailure("MESSAGE_METHOD_UNKNOWN", [method]);
}
