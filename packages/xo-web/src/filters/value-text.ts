import { formatFilter } from "@xo-server/filter";
import { filterNames } from "./properties.js";

/** `name:` as a filter writes it, nested if necessary. */
export function nameText(path: string): string {
  return filterNames(path)
    .map((name) => `${wordText(name)}:`)
    .join("");
}

/** A text as a filter writes it, quoted if necessary. */
export function wordText(text: string): string {
  return formatFilter({ kind: "text", text });
}

/**
 * One of several values. A text matches all values that contain it, so if
 * another value would match too, an exact pattern is used.
 */
export function valueText(value: string, all: readonly string[]): string {
  const lower = value.toLowerCase();
  const isPart = all.some(
    (other) => other !== value && other.toLowerCase().includes(lower),
  );
  return isPart ? exactText(value) : wordText(value);
}

/** An expression for any of these texts, such as the ids in `id:|(a b)`. */
export function anyOf(texts: Iterable<string>): string {
  return `|(${Array.from(texts, wordText).join(" ")})`;
}

/** An expression for exactly this text. */
export function exactText(value: string): string {
  const source = `^${escapePattern(value)}$`;
  return formatFilter({ kind: "regex", source, ignoreCase: false });
}

/** Escapes text for a regular expression between slashes. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The text of an escaped pattern; undefined if it is more than a text. */
export function unescapePattern(source: string): string | undefined {
  let text = "";
  for (let at = 0; at < source.length; at++) {
    const isEscaped = source[at] === "\\";
    const character = source[isEscaped ? ++at : at];
    const isPlain = isEscaped
      ? character !== undefined && !/[a-zA-Z0-9]/.test(character)
      : !/[\^$.*+?()[\]{}|]/.test(character!);
    if (!isPlain) return undefined;
    text += character;
  }
  return text;
}
