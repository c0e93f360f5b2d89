/**
 * Text of others for a terminal: without control characters, which could move the
 * cursor or rewrite what stands there, and without marks that turn the direction of writing.
 */
export function toPlainText(text: string): string {
  return text.replace(CONTROLS, " ");
}

/** The same, with line ends and tabs kept. */
export function toPlainLines(text: string): string {
  return text.replace(CONTROLS, (one) => (/[\n\t]/.test(one) ? one : " "));
}

const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
