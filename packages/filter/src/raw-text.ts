/** Letters, marks, digits and `_ - . $`: characters of unquoted text. */
const CHARACTER = "\\p{L}\\p{M}\\p{Nd}_\\-.$";

const RAW_TEXT = new RegExp(`^[${CHARACTER}]+$`, "u");

/** Sticky expression for unquoted text. */
export function rawText(): RegExp {
  return new RegExp(`[${CHARACTER}]+`, "uy");
}

/** Sticky expression for unquoted text with stars. */
export function rawGlob(): RegExp {
  return new RegExp(`[${CHARACTER}*]+`, "uy");
}

/** Whether a text can be written without quotes. */
export function isRawText(text: string): boolean {
  return RAW_TEXT.test(text);
}

/**
 * The number that an unquoted text denotes, as JavaScript parses it; undefined
 * if none.
 */
export function numberOfRaw(text: string): number | undefined {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : undefined;
}
