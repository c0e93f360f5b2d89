const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * A string this short cannot be nested too deep for a parser: each level has two
 * brackets. Scanning every small message would cost a third of parsing it.
 */
const UNCHECKED_CHARACTERS = 3072;

/**
 * Whether JSON is nested deeper than `maxDepth` levels; for invalid JSON the result
 * is arbitrary. The scan stops at the first level above the limit.
 */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  if (text.length <= Math.max(UNCHECKED_CHARACTERS, maxDepth)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // [ and {, ] and } differ in one bit.
    else if ((code | 0x20) === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

/** Index of the closing quote; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Preceded by an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}
