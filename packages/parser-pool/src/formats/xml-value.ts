import type {
  ClassRegistry,
  ClassLayout,
  IntegerPosition,
} from "./class-registry.js";
import { badAnswer } from "./bad-input.js";
import { SLACK, type FormatInput, type FormatOutput } from "./format.js";
import { JsonSplitter } from "./json-splitter.js";
import { integerOf } from "./xml-literal.js";

/** A number as JSON text, so that no digit is lost. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A parsed value of XML-RPC. Structs are maps, as a member may be named `__proto__`. */
export type XmlValue =
  | string
  | boolean
  | null
  | JsonNumber
  | XmlValue[]
  | XmlStruct;

export type XmlStruct = Map<string, XmlValue>;

/**
 * The answer in a parsed response. The value is serialized to JSON and split
 * again: slow, but these parsers exist for comparison.
 */
export function answerFrom(
  response: XmlValue,
  input: FormatInput,
  classes: ClassRegistry,
): FormatOutput {
  const isEnvelope = response instanceof Map && response.has("Status");
  const envelope: XmlStruct = isEnvelope
    ? response
    : new Map<string, XmlValue>([
        ["Status", "Success"],
        ["Value", response],
      ]);
  const json = new JsonText(input, classes).envelope(envelope);
  const length = Buffer.byteLength(json);
  const buffer = Buffer.allocUnsafeSlow(length + SLACK);
  buffer.write(json);
  const bytes = new Uint8Array(buffer.buffer);
  const output = new JsonSplitter(
    { ...input, bytes, start: 0, end: length, state: undefined },
    classes,
    "status",
  ).split();
  if (output.answer === undefined) return output;
  return { ...output, answer: { ...output.answer, encoding: "xml-rpc" } };
}

/** Serializes values to JSON, with integers as the class hints say. */
class JsonText {
  readonly #input: FormatInput;
  readonly #classes: ClassRegistry;

  constructor(input: FormatInput, classes: ClassRegistry) {
    this.#input = input;
    this.#classes = classes;
  }

  envelope(struct: XmlStruct): string {
    return members(struct, (value, name) =>
      name === "Value" ? this.#answer(value) : jsonOf(value),
    );
  }

  #answer(value: XmlValue): string {
    const { shape, className } = this.#input;
    const model = this.#classes.classOf(className);
    if (shape === "events" && value instanceof Map)
      return members(value, (part, name) =>
        name === "events" && Array.isArray(part)
          ? `[${part.map((event) => this.#event(event)).join()}]`
          : jsonOf(part),
      );
    if (shape === "records" && value instanceof Map)
      return members(value, (record) => recordOf(record, model));
    return className === "" ? jsonOf(value) : recordOf(value, model);
  }

  #event(event: XmlValue): string {
    if (!(event instanceof Map)) throw badAnswer("an event is not a struct");
    const className = event.get("class");
    const model = this.#classes.classOf(
      this.#classes.classNameOf(typeof className === "string" ? className : ""),
    );
    return members(event, (value, name) =>
      name === "snapshot" ? recordOf(value, model) : jsonOf(value),
    );
  }
}

function recordOf(record: XmlValue, model: ClassLayout): string {
  if (!(record instanceof Map)) return jsonOf(record);
  return members(record, (value, name) => {
    const bytes = Buffer.from(name);
    const index = model.integers.find(bytes, 0, bytes.length);
    return jsonOf(value, model.integerPositions[index]);
  });
}

function members(
  struct: XmlStruct,
  textOf: (value: XmlValue, name: string) => string,
): string {
  const texts: string[] = [];
  for (const [name, value] of struct)
    texts.push(`${JSON.stringify(name)}:${textOf(value, name)}`);
  return `{${texts.join()}}`;
}

function jsonOf(value: XmlValue, position?: IntegerPosition): string {
  if (typeof value === "string")
    return position === "value"
      ? (integerOf(value) ?? JSON.stringify(value))
      : JSON.stringify(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) {
    const inner = position === "set" ? "value" : undefined;
    return `[${value.map((item) => jsonOf(item, inner)).join()}]`;
  }
  const inner = position === "map" ? "value" : undefined;
  return members(value, (member) => jsonOf(member, inner));
}
