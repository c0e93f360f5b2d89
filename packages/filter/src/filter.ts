/**
 * The syntax tree of a filter, plain JSON. A name with dots is one name; nested
 * properties are a `property` within a `property`.
 */
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
  /**
   * Matches strings that contain `text`, ignoring case, also nested in arrays
   * and objects; with `number` also numbers equal to it.
   */
  | { readonly kind: "text"; readonly text: string; readonly number?: number }
  | { readonly kind: "glob"; readonly pattern: string }
  | {
      readonly kind: "regex";
      readonly source: string;
      readonly ignoreCase: boolean;
    };
