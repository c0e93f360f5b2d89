const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * So short a text cannot be nested deeper than programs bear: each level has two
 * brackets. Looking at every small message would cost a third of parsing it.
 */
const UNCHECKED_CHARACTERS = 3072;

/**
 * Whether JSON is nested deeper than `most` levels; what is no JSON may be told
 * either way. It stops at the first level too many, so that a text of nothing but
 * brackets costs no more than these.
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

/** Of the quote that ends the string; the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}
