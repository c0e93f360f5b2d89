import { MASK } from "./secret-names.js";

/** `://someone:secret@` in the address of a repository, `password=secret` among the options of a mount. */
const URL_PASSWORD = /(:\/\/[^:@/\s]{0,256}:)[^@/\s]+(?=@)/g;
const OPTION_PASSWORD = /((?:password|passwd|(?<![a-z])pass)=)[^,\s]+/gi;

/** The text without passwords that are part of it. Most texts have nothing to look for. */
export function maskText(text: string): string {
  if (!mayHoldSecret(text)) return text;
  return text
    .replace(URL_PASSWORD, `$1${MASK}`)
    .replace(OPTION_PASSWORD, `$1${MASK}`);
}

/** A quick look, for all texts of a map. */
export function mayHoldSecret(text: string): boolean {
  return text.includes("://") || text.includes("=");
}
