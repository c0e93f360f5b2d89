const CHARACTER = "\\p{L}\\p{M}\\p{Nd}_\\-.$";

const RAW_TEXT = new RegExp(`^[${CHARACTER}]+$`, "u");

/** Finds a text that stands without quotes, from `lastIndex` on. */
export function rawText(): RegExp {
  return new RegExp(`[${CHARACTER}]+`, "uy");
}

/** The same with stars. */
export function rawGlob(): RegExp {
  return new RegExp(`[${CHARACTER}*]+`, "uy");
}

/** Whether a text can stand without quotes. */
export function isRawText(text: string): boolean {
  return RAW_TEXT.test(text);
}

/** The number that a raw text writes, as JavaScript reads it; undefined for anything else. */
export function numberOfRaw(text: string): number | undefined {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : undefined;
}
