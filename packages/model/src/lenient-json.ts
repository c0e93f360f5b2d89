/**
 * Parses JSON as XAPI writes it: like JSON.parse, but `NaN`, `Infinity` and
 * `-Infinity` are numbers, and integers beyond 2^53 become BigInts, so that no
 * digit is lost (XAPI integers have 64 bits). `__proto__` is an ordinary key.
 *
 * Only for rare records (RecordFlag.lenient): it quotes the non-standard
 * tokens, calls JSON.parse and converts the quoted tokens.
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

/**
 * A string, or a bare word or number. Strings are matched as a whole, so that
 * nothing inside them is.
 */
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

/** A private-use character that occurs neither raw nor escaped in the text. */
function unusedMark(text: string): string {
  for (let code = 0xe000; code < 0xf8ff; code++) {
    const mark = String.fromCharCode(code);
    const escape = `\\u${code.toString(16)}`;
    if (!text.includes(mark) && !text.toLowerCase().includes(escape))
      return mark;
  }
  throw new SyntaxError("the text uses every private-use character");
}
