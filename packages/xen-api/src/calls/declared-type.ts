import { datamodel } from "@xo-server/model";
import { toFloat, toInteger } from "../xmlrpc-value.js";

/**
 * Converts a value to the type that the data model declares, so that a call
 * returns the same value on every transport: XML-RPC sends integers without a
 * tag, and JSON in XML sends a bare literal as a string.
 *
 * A value that does not fit the declared type is returned unchanged: the pool
 * may be older or newer than this data model.
 */
export function toDeclaredType(value: unknown, type: string): unknown {
  if (type.endsWith(" set")) {
    const item = type.slice(0, -" set".length);
    return Array.isArray(value)
      ? value.map((member: unknown) => toDeclaredType(member, item))
      : value;
  }
  const map = /^\((.*) -> (.*)\) map$/.exec(type);
  if (map !== null) return mapMembers(value, () => map[2]!);
  if (type.endsWith(" record")) {
    const fields = datamodel.classes[type.slice(0, -" record".length)]?.fields;
    return mapMembers(value, (name) =>
      fields !== undefined && Object.hasOwn(fields, name)
        ? fields[name]!.type
        : "string",
    );
  }
  return typeof value === "string" ? toScalar(value, type) : value;
}

/** Result type of a method in the data model; `void` for an unknown method. */
export function resultTypeOf(method: string): string {
  const [className = "", message = ""] = method
    .replace(/^Async\./, "")
    .split(".");
  const messages = datamodel.classes[className]?.messages;
  return messages !== undefined && Object.hasOwn(messages, message)
    ? (messages[message]!.result ?? "void")
    : "void";
}

function mapMembers(value: unknown, typeOf: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      toDeclaredType(member, typeOf(name)),
    ]),
  );
}

function toScalar(text: string, type: string): unknown {
  try {
    if (type === "int") return toInteger(text);
    if (type === "float") return toFloat(text);
  } catch {
    // Not of the declared type: the text as it was sent.
    return text;
  }
  if (type === "bool" && /^(true|false)$/.test(text)) return text === "true";
  return text;
}
