/**
 * Removes control characters, which could control the terminal, and bidirectional
 * formatting characters from external text.
 */
export function toPlainText(text: string): string {
  return text.replace(CONTROLS, " ");
}

/** Same, but preserves line breaks and tabs. */
export function toPlainLines(text: string): string {
  return text.replace(CONTROLS, (one) => (/[\n\t]/.test(one) ? one : " "));
}

const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
