import type { Messages } from "../locale/messages.js";
import type { CaretTerm } from "./caret-term.js";
import type { Completion, CompletionInput } from "./completion.js";
import { propertiesOf, type Property } from "./properties.js";
import { nameText } from "./value-text.js";

const MAX_COMPLETIONS = 24;

/**
 * Properties that match the typed text, by their name in the filter language or in
 * the language of the page.
 */
export function propertiesFor(
  { names, typed }: CaretTerm,
  { type, messages }: CompletionInput,
): Completion[] {
  const above = names.map((name) => `${name}:`).join("");
  const requested = typed.toLowerCase();
  const ranked = propertiesOf(type)
    .map((property) => ({ property, written: nameText(property.path) }))
    .filter(({ written }) => written.startsWith(above))
    .map(({ property, written }) => ({
      property,
      written: written.slice(above.length),
      rank: rankOf(requested, property, messages),
    }))
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank);
  const properties = ranked
    .slice(0, MAX_COMPLETIONS)
    .flatMap(({ property, written }) =>
      toCompletions(property, written, messages),
    );
  return requested === "" ? [...properties, ...signs(messages)] : properties;
}

/** Signs that can precede any term. */
function signs({ operators }: Messages["filters"]): Completion[] {
  const line = { group: "operator", isOpen: true } as const;
  return [
    { ...line, insert: "!", label: "!", detail: operators.not },
    { ...line, insert: "|(", label: "|( )", detail: operators.or },
  ];
}

function toCompletions(
  { path, kind }: Property,
  written: string,
  messages: Messages["filters"],
): Completion[] {
  const { name, hint } = messages.properties[path];
  const bare = written.replace(/:$/, "");
  const line = { group: "property", label: bare } as const;
  if (kind !== "boolean")
    return [
      { ...line, insert: written, detail: `${name}: ${hint}`, isOpen: true },
    ];
  return [["", messages.yes] as const, ["!", messages.no] as const].map(
    ([sign, word]) => ({
      ...line,
      label: `${sign}${bare}?`,
      insert: `${sign}${bare}?`,
      detail: `${name}: ${word}`,
      isOpen: false,
    }),
  );
}

/** Rank of a match, lower is better; Infinity: no match. */
function rankOf(
  requested: string,
  { path }: Property,
  messages: Messages["filters"],
): number {
  if (requested === "") return 0;
  const { name, hint } = messages.properties[path];
  const lower = path.toLowerCase().replace(/^\$/, "");
  if (lower.startsWith(requested.replace(/^\$/, ""))) return 1;
  if (name.toLowerCase().startsWith(requested)) return 2;
  if (lower.includes(requested) || name.toLowerCase().includes(requested))
    return 3;
  return hint.toLowerCase().includes(requested) ? 4 : Infinity;
}
