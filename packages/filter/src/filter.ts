/** A filter as read. Names with dots are one name; nesting is `property` in `property`. */
export type Filter =
  | { readonly kind: "and"; readonly terms: readonly Filter[] }
  | { readonly kind: "or"; readonly terms: readonly Filter[] }
  | { readonly kind: "not"; readonly term: Filter }
  | {
      readonly kind: "compare";
      readonly operator: "<" | "<=" | ">" | ">=";
      readonly number: number;
    }
  | { readonly kind: "property"; readonly name: string; readonly term: Filter }
  /** `name?`: the property is truthy. */
  | { readonly kind: "truthy"; readonly name: string }
  /** Part of a string, case ignored, down arrays and objects; `number`: equal to it as well. */
  | { readonly kind: "text"; readonly text: string; readonly number?: number }
  | { readonly kind: "glob"; readonly pattern: string }
  | {
      readonly kind: "regex";
      readonly source: string;
      readonly ignoreCase: boolean;
    };
