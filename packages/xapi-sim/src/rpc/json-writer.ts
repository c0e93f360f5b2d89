import type { FieldType } from "../field-type.js";
import type { XapiMap, XapiRecord, XapiValue } from "../xapi-value.js";
import { toJsonFloat } from "./float-text.js";
import { WriterTable, type FieldWriter, type Writer } from "./writer-table.js";

const table = new WriterTable({ writer: makeWriter, recordWriter });

/** A value of the datamodel's type as XAPI's JSON. */
export function toJson(type: FieldType, value: XapiValue): string {
  return table.write(type, value);
}

/** A whole record, see WriterTable. */
export function recordToJson(className: string, record: XapiRecord): string {
  return table.writeRecord(className, record);
}

function recordWriter(
  fields: readonly FieldWriter[],
): (record: XapiRecord) => string {
  const parts = fields.map(({ name, write }, i) => ({
    name,
    head: `${i === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    write,
  }));
  return (record) => {
    let text = "";
    for (const { name, head, write } of parts)
      text += head + write(record[name]!);
    return parts.length === 0 ? "{}" : `${text}}`;
  };
}

function makeWriter(
  type: FieldType,
  writerOf: (type: FieldType) => Writer,
): Writer {
  switch (type.kind) {
    case "int":
    case "bool":
      return String as Writer;
    case "float":
      return (value) => toJsonFloat(Number(value));
    case "set": {
      const write = writerOf(type.of);
      return (value) =>
        `[${(value as readonly XapiValue[]).map(write).join(",")}]`;
    }
    case "map": {
      const write = writerOf(type.value);
      return (value) => mapToJson(value as XapiMap, write);
    }
    case "record":
      return (value) => recordToJson(type.className, value as XapiRecord);
    case "option": {
      const write = writerOf(type.of);
      return (value) => (Array.isArray(value) ? "null" : write(value));
    }
    case "string":
    case "enum":
    case "ref":
    case "datetime":
    case "any":
      return quote as Writer;
  }
}

function mapToJson(map: XapiMap, write: Writer): string {
  let text = "";
  for (const key of Object.keys(map))
    text += `${text === "" ? "" : ","}${quote(key)}:${write(map[key]!)}`;
  return `{${text}}`;
}

/** Characters that JSON strings must escape, and DEL, which Yojson escapes. */
// eslint-disable-next-line no-control-regex -- these are the ones meant
const ESCAPED = /[\u0000-\u001f"\\\u007f]/;

/** A JSON string as Yojson writes it. */
export function quote(text: string): string {
  return ESCAPED.test(text)
    ? JSON.stringify(text).replace(/\u007f/g, "\\u007f")
    : `"${text}"`;
}
