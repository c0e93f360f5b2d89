import { Filter } from "ldapts";

/**
 * The filter of the config with values in place of their names in braces,
 * escaped (RFC 4515): whatever a value is, it is compared, never read.
 */
export function fillFilter(
  template: string,
  values: Readonly<Record<string, string>>,
): string {
  return template.replace(/\{\{(\w+)\}\}/g, (whole, key: string) =>
    Object.hasOwn(values, key) ? Filter.escape(values[key]!) : whole,
  );
}

/** Members of the groups that `filter` finds. */
export function memberFilter(
  filter: string,
  attribute: string,
  member: string,
): string {
  return `(&${filter}(${attribute}=${Filter.escape(member)}))`;
}

/** Control and invisible characters, which directories leave out of comparisons (RFC 4518). */
const IGNORED = /\p{C}|\p{Zl}|\p{Zp}|\u034f|[\u180b-\u180e]|[\ufe00-\ufe0f]/u;
const MAX_NAME_LENGTH = 256;

/**
 * Whether there is no other way to write the name, case aside. Directories
 * take `ada`, ` ada ` and full-width letters for the same; tries to sign in are
 * counted by what was typed, so guesses must not come under ever new names.
 */
export function isCanonicalName(name: string): boolean {
  return (
    name !== "" &&
    name.length <= MAX_NAME_LENGTH &&
    name === name.normalize("NFKC") &&
    name === name.trim().replace(/\s+/g, " ") &&
    !IGNORED.test(name)
  );
}
