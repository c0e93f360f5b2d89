import type { Filter } from "@xo-server/filter";
import type { Property } from "./properties.js";

/** Comparison operators of rows; the kind of the property determines which are available. */
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
  /** Path with dots; empty: any property. */
  readonly path: string;
  readonly operator: RowOperator;
  /**
   * Value as in the filter; numbers in the base unit of the property. Empty for
   * operators without a value.
   */
  readonly value: string;
  /** A typed name that no known object has; the row has no value then. */
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
        "contains",
        "notContains",
        "is",
        "isNot",
        "starts",
        "like",
        "matches",
        "any",
        "none",
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
        "contains",
        "notContains",
        "is",
        "isNot",
        "starts",
        "like",
        "matches",
        "above",
        "atLeast",
        "below",
        "atMost",
        "equal",
        "notEqual",
        "any",
        "none",
      ];
  }
}

/** Operators without a value. */
export function hasValue(operator: RowOperator): boolean {
  return !["yes", "no", "any", "none"].includes(operator);
}

/** A part of a filter that the form cannot show as a row. */
export class NotShownError extends Error {
  readonly part: Filter;

  constructor(part: Filter) {
    super("a filter that the form cannot show");
    this.part = part;
  }
}
