/**
 * Reads JSON as XAPI writes it: like JSON.parse, but bare `NaN`, `Infinity` and
 * `-Infinity` are numbers, and an integer past 2^53 becomes a BigInt so that no
 * digit is lost (XAPI integers have 64 bits). `__proto__` is an ordinary key.
 *
 * For the rare record only (RecordFlag.lenient): it runs JSON.parse over a text
 * in which the odd tokens are dressed as strings, then undresses them.
 *
 * @throws SyntaxError where JSON.parse would.
 */
export function parseLenient(text: string): unknown {
  const mark = unusedMark(text);
  const quoted = text.replace(TOKEN, (token) =>
    token.startsWith('"') || !isNonStandard(token)
      ? token
      : `"${mark}${token}"`,
  );
  return JSON.parse(quoted, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark)
      ? parseToken(value.slice(mark.length))
      : value,
  );
}

/** A whole string, or a bare word or number: strings are matched so that nothing inside them is. */
const TOKEN =
  /"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

function isNonStandard(token: string): boolean {
  if (/[NI]/.test(token)) return true;
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}

function parseToken(token: string): number | bigint {
  if (token.endsWith("NaN")) return NaN;
  if (token.endsWith("Infinity"))
    return token.startsWith("-") ? -Infinity : Infinity;
  return BigInt(token);
}

/** A private-use character that the text has neither raw nor escaped. */
function unusedMark(text: string): string {
  for (let code = 0xe000; code < 0xf8ff; code++) {
    const mark = String.fromCharCode(code);
    const escape = `\\u${code.toString(16)}`;
    if (!text.includes(mark) && !text.toLowerCase().includes(escape))
      return mark;
  }
  throw new SyntaxError("the text uses every private-use character");
}
