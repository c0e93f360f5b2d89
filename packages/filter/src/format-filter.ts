import type { Filter } from "./filter.js";
import { isRawText, numberOfRaw } from "./raw-text.js";

// What groups without a term mean; the language has no shorter way to say it.
const EVERYTHING = "|(a !a)";
const NOTHING = "(a !a)";

/** The text of a filter: what `parseFilter` gives reads as the same tree again. */
export function formatFilter(filter: Filter): string {
  if (filter.kind !== "and") return formatTerm(filter);
  return filter.terms.map(formatTerm).join(" ");
}

function formatTerm(filter: Filter): string {
  switch (filter.kind) {
    case "and":
      return formatGroup("", filter.terms) ?? EVERYTHING;
    case "or":
      return formatGroup("|", filter.terms) ?? NOTHING;
    case "not":
      return `!${formatTerm(filter.term)}`;
    case "compare":
      return filter.operator + String(filter.number).replace("+", "");
    case "property":
      return `${formatName(filter.name)}:${formatTerm(filter.term)}`;
    case "truthy":
      return `${formatName(filter.name)}?`;
    case "text":
      return formatText(filter);
    case "glob":
      return filter.pattern;
    case "regex":
      return `/${escapeSlashes(filter.source)}/${filter.ignoreCase ? "i" : ""}`;
  }
}

function formatGroup(
  sign: string,
  terms: readonly Filter[],
): string | undefined {
  if (terms.length < 2) return terms[0] && formatTerm(terms[0]);
  return `${sign}(${terms.map(formatTerm).join(" ")})`;
}

function formatText({ text, number }: { text: string; number?: number }) {
  // A text in quotes is never a number, one without is whenever it can be.
  const isNumber = numberOfRaw(text) !== undefined;
  return number !== undefined || (isRawText(text) && !isNumber)
    ? text
    : quote(text);
}

function formatName(name: string): string {
  return isRawText(name) ? name : quote(name);
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function escapeSlashes(source: string): string {
  return source.replace(/\\[^]|\//g, (found) =>
    found === "/" ? "\\/" : found,
  );
}
