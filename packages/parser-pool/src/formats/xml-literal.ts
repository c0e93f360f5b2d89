/** No number that XAPI prints is longer, and a BigInt of millions of digits would block. */
export const MAX_NUMBER_LENGTH = 512;

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const DOUBLE = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** As C prints them, to bare words that parseLenient reads. */
const SPECIAL_DOUBLES = new Map([
  ["nan", "NaN"],
  ["-nan", "NaN"],
  ["inf", "Infinity"],
  ["-inf", "-Infinity"],
]);

/** Types of XML-RPC whose text is a literal, and the JSON of such a text: undefined where it is none. */
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

/** Types whose text becomes a string. */
export const TEXT_TYPES: readonly string[] = [
  "string",
  "dateTime.iso8601",
  "base64",
];

function booleanOf(text: string): string | undefined {
  if (text === "1") return "true";
  return text === "0" ? "false" : undefined;
}

export function integerOf(text: string): string | undefined {
  return text.length <= MAX_NUMBER_LENGTH && INTEGER.test(text)
    ? text
    : undefined;
}

export function doubleOf(text: string): string | undefined {
  if (text.length > MAX_NUMBER_LENGTH) return undefined;
  return DOUBLE.test(text) ? text : SPECIAL_DOUBLES.get(text.toLowerCase());
}

/** Is it a number that JSON.parse would not read, or not exactly? */
export function isLenient(json: string): boolean {
  if (json.includes("N") || json.includes("I")) return true;
  return (
    json.length > 15 &&
    INTEGER.test(json) &&
    !Number.isSafeInteger(Number(json))
  );
}
