import type { FieldType } from "../field-type.js";
import type { XapiMap, XapiRecord, XapiValue } from "../xapi-value.js";
import { toG16 } from "./float-text.js";
import { WriterTable, type FieldWriter, type Writer } from "./writer-table.js";

const table = new WriterTable({ writer: makeWriter, recordWriter });

/** A value of the datamodel's type as XAPI's XML-RPC, in its `<value>`. */
export function toXml(type: FieldType, value: XapiValue): string {
  return table.write(type, value);
}

/** A whole record as `<value><struct>...`, see WriterTable. */
export function recordToXml(className: string, record: XapiRecord): string {
  return table.writeRecord(className, record);
}

function recordWriter(
  fields: readonly FieldWriter[],
): (record: XapiRecord) => string {
  const parts = fields.map(({ name, write }) => ({
    name,
    head: `<member><name>${name}</name>`,
    write,
  }));
  return (record) => {
    let text = "<value><struct>";
    for (const { name, head, write } of parts)
      text += `${head}${write(record[name]!)}</member>`;
    return `${text}</struct></value>`;
  };
}

function makeWriter(
  type: FieldType,
  writerOf: (type: FieldType) => Writer,
): Writer {
  switch (type.kind) {
    case "int":
      // XAPI leaves integers untagged: they look like strings.
      return (value) => `<value>${value as number | bigint}</value>`;
    case "bool":
      return (value) => `<value><boolean>${value ? 1 : 0}</boolean></value>`;
    case "float":
      return (value) =>
        `<value><double>${toG16(Number(value))}</double></value>`;
    case "datetime":
      return (value) =>
        `<value><dateTime.iso8601>${value as string}</dateTime.iso8601></value>`;
    case "set": {
      const write = writerOf(type.of);
      return (value) =>
        `<value><array><data>${(value as readonly XapiValue[]).map(write).join("")}</data></array></value>`;
    }
    case "map": {
      const write = writerOf(type.value);
      return (value) => mapToXml(value as XapiMap, write);
    }
    case "record":
      return (value) => recordToXml(type.className, value as XapiRecord);
    case "option": {
      const write = writerOf(type.of);
      return (value) =>
        Array.isArray(value) ? "<value><nil/></value>" : write(value);
    }
    case "string":
    case "enum":
    case "ref":
    case "any":
      return (value) => `<value>${escapeXml(value as string)}</value>`;
  }
}

function mapToXml(map: XapiMap, write: Writer): string {
  let text = "<value><struct>";
  // Keys go out unescaped: a key with & or < makes ill-formed XML, as from XAPI itself.
  for (const key of Object.keys(map))
    text += `<member><name>${key}</name>${write(map[key]!)}</member>`;
  return `${text}</struct></value>`;
}

const NAMES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
};
// eslint-disable-next-line no-control-regex -- XAPI drops these
const SPECIAL = /[<>&"\u0000-\u0008\u000b\u000c\u000e-\u001f]/;
const ALL_SPECIAL = new RegExp(SPECIAL, "g");

/** `< > & "` become entities, `'` does not; control characters other than tab, LF and CR are dropped. */
export function escapeXml(text: string): string {
  return SPECIAL.test(text)
    ? text.replace(ALL_SPECIAL, (c) => NAMES[c] ?? "")
    : text;
}
