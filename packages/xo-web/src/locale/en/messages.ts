import type { en } from "./all.js";
import type { initial } from "./initial.js";

/** The forms of a text by plural category; `other` always exists. */
export type Plural = Readonly<
  { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>
>;

export type Widened<T> = T extends string
  ? string
  : T extends { other: string }
    ? Plural
    : { readonly [K in keyof T]: Widened<T[K]> };

/** The texts that every language must have: those of English. */
export type Messages = Widened<typeof en>;

/** Those of them that are loaded before the page is mounted. */
export type InitialMessages = Widened<typeof initial>;
