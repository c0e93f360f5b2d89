import type { Messages } from "../locale/messages.js";

/** One line of the list below the field. */
export interface Completion {
  readonly group: "property" | "value" | "operator";
  /** What comes into the text. */
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
  /** More is to be chosen behind it: the list stays open. */
  readonly isOpen: boolean;
}

/** A value that objects have, as returned by the server. */
export interface KnownValue {
  readonly value: string;
  /** In place of the value, such as a name of the object that it is the id of. */
  readonly label?: string;
  /** Objects that have it. */
  readonly count?: number;
}

export interface CompletionFacts {
  readonly type: string;
  readonly messages: Messages["filters"];
  /** Values of the property at the caret; empty until they are known. */
  readonly values: readonly KnownValue[];
  /** Seconds since 1970. */
  readonly now: number;
}
