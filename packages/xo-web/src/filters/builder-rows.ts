import type { Filter } from "@xo-server/filter";
import type { Property } from "./properties.js";

/** How a row compares; which of these a property has depends on its kind. */
export type RowOperator =
  | "contains"
  | "notContains"
  | "is"
  | "isNot"
  | "starts"
  | "like"
  | "matches"
  | "equal"
  | "notEqual"
  | "above"
  | "atLeast"
  | "below"
  | "atMost"
  | "yes"
  | "no"
  | "any"
  | "none";

/** A condition of the form. */
export interface BuilderRow {
  readonly kind: "row";
  /** With dots; empty: anywhere. */
  readonly path: string;
  readonly operator: RowOperator;
  /** As a filter has it; numbers in the property's own unit. Empty for operators without a value. */
  readonly value: string;
  /** A typed name that is no known object: the row has no value then. */
  readonly unknownName?: string;
}

/** The initial row. */
export const newRow: BuilderRow = {
  kind: "row",
  path: "name_label",
  operator: "contains",
  value: "",
};

/** Conditions combined with AND or OR. */
export interface BuilderGroup {
  readonly kind: "group";
  readonly mode: "all" | "any";
  readonly parts: readonly (BuilderRow | BuilderGroup)[];
}

export const numberOperators = {
  above: ">",
  atLeast: ">=",
  below: "<",
  atMost: "<=",
} as const;

/** Operators for a kind of property; the default first. */
export function operatorsOf(
  kind: Property["kind"] | "anywhere" | "unknown",
): readonly RowOperator[] {
  switch (kind) {
    case "anywhere":
      return ["contains", "notContains", "like", "matches"];
    case "text":
      return [
        ...(["contains", "notContains", "is", "isNot", "starts"] as const),
        ...(["like", "matches", "any", "none"] as const),
      ];
    case "number":
      return ["atLeast", "above", "below", "atMost", "equal", "notEqual"];
    case "boolean":
      return ["yes", "no"];
    case "choice":
    case "object":
      return ["is", "isNot", "any", "none"];
    case "time":
      return ["above", "below"];
    case "unknown":
      return [
        ...(["contains", "notContains", "is", "isNot", "starts"] as const),
        ...(["like", "matches", "above", "atLeast", "below"] as const),
        ...(["atMost", "equal", "notEqual", "any", "none"] as const),
      ];
  }
}

/** Operators without a value. */
export function hasValue(operator: RowOperator): boolean {
  return !["yes", "no", "any", "none"].includes(operator);
}

/** A part of a filter that the form has no row for. */
export class NotShownError extends Error {
  readonly part: Filter;

  constructor(part: Filter) {
    super("a filter that the form cannot show");
    this.part = part;
  }
}
