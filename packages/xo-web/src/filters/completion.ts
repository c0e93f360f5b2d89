import type { Messages } from "../locale/messages.js";

/** One line of the list below the field. */
export interface Completion {
  readonly group: "property" | "value" | "operator";
  /** Text that is inserted. */
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
  /** More has to be chosen after it: the list stays open. */
  readonly isOpen: boolean;
}

/** A value that objects have, as returned by the server. */
export interface KnownValue {
  readonly value: string;
  /** Shown in place of the value, such as the name of the object with this id. */
  readonly label?: string;
  /** Number of objects that have it. */
  readonly count?: number;
}

export interface CompletionInput {
  readonly type: string;
  readonly messages: Messages["filters"];
  /** Values of the property at the caret; empty until they are known. */
  readonly values: readonly KnownValue[];
  /** Seconds since 1970. */
  readonly now: number;
}
