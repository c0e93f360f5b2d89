import type { CaretTerm } from "./caret-term.js";
import type { Completion, CompletionInput } from "./completion.js";
import { filterNames, propertiesOf, type Property } from "./properties.js";
import { propertiesFor } from "./property-completions.js";
import { numbers, valuesOf } from "./value-completions.js";

/** Completions at a position, best first. */
export function completionsFor(
  term: CaretTerm,
  input: CompletionInput,
): readonly Completion[] {
  if (term.kind === "none") return [];
  const property = propertyAt(term, input.type);
  if (term.kind === "number")
    return property === undefined ? [] : numbers(property, term.typed);
  if (property !== undefined) return valuesOf(property, term, input);
  return propertiesFor(term, input);
}

/** The property whose value is typed. */
export function propertyAt(
  { names }: CaretTerm,
  type: string,
): Property | undefined {
  const written = names.join(":");
  return propertiesOf(type).find(
    ({ path }) => filterNames(path).join(":") === written,
  );
}

/** The text with a completion inserted, and the new position of the caret. */
export function complete(
  text: string,
  { from, to }: Pick<CaretTerm, "from" | "to">,
  { insert, isOpen }: Pick<Completion, "insert" | "isOpen">,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(to);
  // Characters that already follow the caret are not inserted again.
  const input =
    insert.endsWith(":") && /^\s*:/.test(rest) ? insert.slice(0, -1) : insert;
  const space = isOpen || /^[\s)]/.test(rest) ? "" : " ";
  const isBeforeSpace = !isOpen && /^\s/.test(rest);
  return {
    text: text.slice(0, from) + input + space + rest,
    caret: from + insert.length + (isBeforeSpace ? 1 : space.length),
  };
}
