/** Maximum length of a number: parsing a BigInt of millions of digits would block. */
export const MAX_NUMBER_LENGTH = 512;

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const DOUBLE = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Special values as printed by C, to the words of parseLenient. */
const SPECIAL_DOUBLES = new Map([
  ["nan", "NaN"],
  ["-nan", "NaN"],
  ["inf", "Infinity"],
  ["-inf", "-Infinity"],
]);

/** XML-RPC types whose text is a literal, with the conversion to JSON (undefined: invalid). */
export const LITERALS: ReadonlyMap<
  string,
  (text: string) => string | undefined
> = new Map([
  ["boolean", booleanOf],
  ["double", doubleOf],
  ["int", integerOf],
  ["i4", integerOf],
  ["i8", integerOf],
]);

/** XML-RPC types whose text becomes a string. */
export const TEXT_TYPES: readonly string[] = [
  "string",
  "dateTime.iso8601",
  "base64",
];

function booleanOf(text: string): string | undefined {
  if (text === "1") return "true";
  return text === "0" ? "false" : undefined;
}

/** JSON of the text of an XML-RPC integer; undefined if it is not one. */
export function integerOf(text: string): string | undefined {
  return text.length <= MAX_NUMBER_LENGTH && INTEGER.test(text)
    ? text
    : undefined;
}

/** JSON of the text of an XML-RPC double; undefined if it is not one. */
export function doubleOf(text: string): string | undefined {
  if (text.length > MAX_NUMBER_LENGTH) return undefined;
  return DOUBLE.test(text) ? text : SPECIAL_DOUBLES.get(text.toLowerCase());
}

/** Is the number invalid for JSON.parse, or parsed with a loss of digits? */
export function isLenient(json: string): boolean {
  if (json.includes("N") || json.includes("I")) return true;
  return (
    json.length > 15 &&
    INTEGER.test(json) &&
    !Number.isSafeInteger(Number(json))
  );
}
