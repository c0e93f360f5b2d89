import type { en } from "./en.js";

/** The forms of a text by plural category; `other` is always there. */
export type Plural = Readonly<
  { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>
>;

export type Widened<T> = T extends string
  ? string
  : T extends { other: string }
    ? Plural
    : { readonly [K in keyof T]: Widened<T[K]> };

/** What a language must have: all that English has. */
export type Messages = Widened<typeof en>;

/** Puts values in place of `{name}`; what is not given stays as it is. */
export function fill(
  template: string,
  values: Readonly<Record<string, string | number>>,
): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}
