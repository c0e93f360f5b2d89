import { MASK } from "./secret-names.js";

/** Matches `://user:secret@` in URLs, and `password=secret` in mount options. */
const URL_PASSWORD = /(:\/\/[^:@/\s]{0,256}:)[^@/\s]+(?=@)/g;
const OPTION_PASSWORD =
  /((?:password|passwd|encryptionKey|(?<![a-z])pass)=)[^,\s]+/gi;

/** Masks passwords in a text. Most texts contain none. */
export function maskText(text: string): string {
  if (!mayHoldSecret(text)) return text;
  return text
    .replace(URL_PASSWORD, `$1${MASK}`)
    .replace(OPTION_PASSWORD, `$1${MASK}`);
}

/** Fast check that excludes most texts. */
export function mayHoldSecret(text: string): boolean {
  return text.includes("://") || text.includes("=");
}
