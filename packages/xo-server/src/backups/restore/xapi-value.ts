import { NULL_REF, datamodel } from "@xo-server/model";

const NEVER = "19700101T00:00:00Z";

/**
 * A value of a field as XML-RPC, in the shape in which XAPI writes it (integers without a type).
 * @param type in the notation of the data model: `VM ref set`, `(string -> int) map`
 */
export function toXmlValue(type: string, value: unknown): string {
  return `<value>${contentOf(type, value)}</value>`;
}

function contentOf(type: string, value: unknown): string {
  const [, inner, kind] = /^(.+) (set|map|option)$/.exec(type) ?? [];
  if (kind === "set") {
    const items = value as readonly unknown[];
    const values = items.map((item) => toXmlValue(inner!, item));
    return `<array><data>${values.join("")}</data></array>`;
  }
  if (kind === "map") {
    const valueType = inner!.slice(inner!.indexOf(" -> ") + 4, -1);
    return structOf(
      Object.entries(value as object).map(
        ([key, one]) => [key, toXmlValue(valueType, one)] as const,
      ),
    );
  }
  switch (type) {
    case "bool":
      return `<boolean>${value === true ? 1 : 0}</boolean>`;
    case "float":
      return `<double>${Number(value)}</double>`;
    case "datetime":
      return `<dateTime.iso8601>${escapeXml(String(value))}</dateTime.iso8601>`;
    default:
      return escapeXml(String(value));
  }
}

/** @param members names and their values as XML */
export function structOf(
  members: readonly (readonly [name: string, value: string])[],
): string {
  const texts = members.map(
    ([name, value]) =>
      `<member><name>${escapeXml(name)}</name>${value}</member>`,
  );
  return `<struct>${texts.join("")}</struct>`;
}

/**
 * Default of a field.
 * @param type see `toXmlValue`
 */
export function emptyValue(type: string): unknown {
  const [kind] = /(set|map|ref)$/.exec(type) ?? [type];
  switch (kind) {
    case "set":
      return [];
    case "map":
      return {};
    case "ref":
      return NULL_REF;
    case "int":
    case "float":
      return 0;
    case "bool":
      return false;
    case "datetime":
      return NEVER;
    default:
      return type.startsWith("enum ")
        ? (datamodel.enums[type.slice("enum ".length)]?.[0] ?? "")
        : "";
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
};

/** Removes control characters, which XML cannot represent. */
function escapeXml(text: string): string {
  // eslint-disable-next-line no-control-regex -- those that XML excludes
  const special = /[<>&"\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
  return text.replaceAll(special, (one) => ENTITIES[one] ?? "");
}
