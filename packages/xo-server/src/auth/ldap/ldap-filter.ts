import { Filter } from "ldapts";

/**
 * The filter of the config with `{{name}}` replaced by escaped values (RFC 4515),
 * so that a value cannot change the filter.
 */
export function fillFilter(
  template: string,
  values: Readonly<Record<string, string>>,
): string {
  return template.replace(/\{\{(\w+)\}\}/g, (whole, key: string) =>
    Object.hasOwn(values, key) ? Filter.escape(values[key]!) : whole,
  );
}

/** Matches the groups of `filter` that have the member. */
export function memberFilter(
  filter: string,
  attribute: string,
  member: string,
): string {
  return `(&${filter}(${attribute}=${Filter.escape(member)}))`;
}

/** Control and invisible characters, which directories ignore in comparisons (RFC 4518). */
const IGNORED = /\p{C}|\p{Zl}|\p{Zp}|\u034f|[\u180b-\u180e]|[\ufe00-\ufe0f]/u;
const MAX_NAME_LENGTH = 256;

/**
 * Whether a name is in its canonical form, apart from case. Directories treat
 * `ada`, ` ada ` and full-width letters as equal, but failed sign-ins are counted
 * by the name as typed: variants must not evade the throttle.
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
