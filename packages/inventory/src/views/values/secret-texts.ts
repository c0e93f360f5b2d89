import { MASK } from "./secret-names.js";

/** Matches `://user:secret@` in URLs, and `password=secret` in mount options. */
const URL_PASSWORD = /(:\/\/[^:@/\s]{0,256}:)[^@/\s]+(?=@)/g;
/** Keys of object stores may have an unescaped slash, space or @. */
const S3_SECRET = /(\bs3(?:\+https?)?:\/\/[^:@\n]{0,256}:)[^\n]{1,512}(?=@)/gi;
const OPTION_PASSWORD =
  /((?:password|passwd|encryptionKey|(?<![a-z])pass)(?:=|"\s*:\s*))(?:"[^"\n]*"|[^,\s]+)/gi;

/** Masks passwords in a text. Most texts contain none. */
export function maskText(text: string): string {
  if (!mayHoldSecret(text)) return text;
  return text
    .replace(S3_SECRET, `$1${MASK}`)
    .replace(URL_PASSWORD, `$1${MASK}`)
    .replace(OPTION_PASSWORD, `$1${MASK}`);
}

/** Fast check that excludes most texts. */
export function mayHoldSecret(text: string): boolean {
  return text.includes("://") || text.includes("=");
}
