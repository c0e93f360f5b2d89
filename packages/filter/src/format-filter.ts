import type { Filter } from "./filter.js";
import { isRawText, numberOfRaw, rawOfAmount } from "./raw-text.js";

// Empty groups, for which the language has no notation.
const EVERYTHING = "|(a !a)";
const NOTHING = "(a !a)";

/** Formats a filter: `parseFilter` of the result yields the same tree. */
export function formatFilter(filter: Filter): string {
  if (filter.kind !== "and") return formatTerm(filter);
  return filter.terms.map(formatTerm).join(" ");
}

/** Formats a filter so that it can be part of a group or property. */
function formatTerm(filter: Filter): string {
  switch (filter.kind) {
    case "and":
      return formatGroup("", filter.terms) ?? EVERYTHING;
    case "or":
      return formatGroup("|", filter.terms) ?? NOTHING;
    case "not":
      return `!${formatTerm(filter.term)}`;
    case "compare":
      return filter.operator + rawOfAmount(filter.number);
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
  // A quoted text is never a number; an unquoted one is a number whenever
  // possible.
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
