/** A float of XAPI: XML-RPC tags it. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** `20261121T03:54:40Z`: tagged in XML-RPC, a string in JSON. */
export class DateTime {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Logical =
  | string
  | number
  | bigint
  | boolean
  | Float
  | DateTime
  | Logical[]
  | Map<string, Logical>;

/** An answer before encoding. */
export type LogicalAnswer =
  | { readonly value: Logical }
  | { readonly error: readonly string[] };

export type EncodingName = "json1" | "json2" | "xml" | "json-in-xml";

/** The bytes of an answer as XAPI encodes them. */
export function encode(name: EncodingName, answer: LogicalAnswer): Buffer {
  return Buffer.from(ENCODERS[name](answer));
}

/** The expected result of decoding a value. */
export function plain(value: Logical): unknown {
  if (value instanceof Float) return value.value;
  if (value instanceof DateTime) return value.text;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    const entries = [...value].map(([k, v]) => [k, plain(v)] as const);
    return Object.fromEntries(entries);
  }
  return value;
}

const ENCODERS: Readonly<
  Record<EncodingName, (answer: LogicalAnswer) => string>
> = {
  json1: (answer) =>
    "value" in answer
      ? `{"result":${json(answer.value)},"error":null,"id":1}`
      : `{"result":null,"error":${JSON.stringify(answer.error)},"id":1}`,
  json2: (answer) => {
    if ("value" in answer)
      return `{"jsonrpc":"2.0","result":${json(answer.value)},"id":0}`;
    const [message, ...data] = answer.error;
    const error = JSON.stringify({ code: 1, message, data });
    return `{"jsonrpc":"2.0","error":${error},"id":0}`;
  },
  xml: (answer) => response(statusXml(answer)),
  "json-in-xml": (answer) => response(escaped(statusJson(answer))),
};

function response(value: string): string {
  return `<?xml version="1.0"?><methodResponse><params><param><value>${value}</value></param></params></methodResponse>`;
}

function statusXml(answer: LogicalAnswer): string {
  const [status, name, value] =
    "value" in answer
      ? ["Success", "Value", xml(answer.value)]
      : ["Failure", "ErrorDescription", xml([...answer.error])];
  return `<struct><member><name>Status</name><value>${status}</value></member><member><name>${name}</name>${value}</member></struct>`;
}

function statusJson(answer: LogicalAnswer): string {
  return "value" in answer
    ? `{"Status":"Success","Value":${json(answer.value)}}`
    : `{"Status":"Failure","ErrorDescription":${JSON.stringify(answer.error)}}`;
}

function json(value: Logical): string {
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof DateTime) return JSON.stringify(value.text);
  if (Array.isArray(value)) return `[${value.map(json).join()}]`;
  if (value instanceof Map)
    return `{${[...value].map(([k, v]) => `${JSON.stringify(k)}:${json(v)}`).join()}}`;
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

function xml(value: Logical): string {
  return `<value>${inner(value)}</value>`;
}

function inner(value: Logical): string {
  if (value instanceof Float) return `<double>${cFloat(value.value)}</double>`;
  if (value instanceof DateTime)
    return `<dateTime.iso8601>${value.text}</dateTime.iso8601>`;
  if (typeof value === "boolean") return `<boolean>${value ? 1 : 0}</boolean>`;
  if (Array.isArray(value))
    return `<array><data>${value.map(xml).join("")}</data></array>`;
  if (value instanceof Map)
    return `<struct>${[...value].map(([k, v]) => `<member><name>${escaped(k)}</name>${xml(v)}</member>`).join("")}</struct>`;
  return escaped(String(value));
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function floatText(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function cFloat(value: number): string {
  return String(value).replace("Infinity", "inf").replace("NaN", "nan");
}
