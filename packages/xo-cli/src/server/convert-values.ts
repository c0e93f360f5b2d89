import type { MethodInfo, ParameterInfo } from "./method-info.js";

type Params = Readonly<Record<string, unknown>>;

/**
 * Converts texts of the command line to the types that a method takes: `4` to a
 * number, `[...]` and `{...}` from JSON. Values that fit already, and those
 * that cannot be converted, stay.
 */
export function convertValues(
  input: Params,
  { params = {} }: MethodInfo,
): Params {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const info = Object.hasOwn(params, name) ? params[name] : undefined;
      return [
        name,
        typeof value === "string" && info !== undefined
          ? convert(value, typesOf(info))
          : value,
      ];
    }),
  );
}

function typesOf({
  type,
  anyOf = [],
  enum: all = [],
}: ParameterInfo): string[] {
  return [
    ...(type === undefined ? [] : [type].flat()),
    ...anyOf.flatMap(typesOf),
    ...all.map((one) => typeof one),
  ];
}

function convert(text: string, types: readonly string[]): unknown {
  if (types.includes("string")) return text;
  const isNumber = types.includes("number") || types.includes("integer");
  if (isNumber && /^-?\d+(\.\d+)?(e\d+)?$/i.test(text)) return Number(text);
  if (types.includes("null") && text === "null") return null;
  if (/^\s*[[{]/.test(text)) return parsed(text);
  return types.includes("array") && text !== "" ? text.split(",") : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The server reports that the text is not a list or object.
    return text;
  }
}
