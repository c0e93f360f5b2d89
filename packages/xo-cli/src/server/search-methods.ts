import type { MethodInfo, ParameterInfo } from "./method-info.js";

export type FoundMethod = readonly [name: string, info: MethodInfo];

/**
 * Methods that match a search: those whose name contains it, then those whose name and
 * summary contain all words of it, then those whose parameters contain the remaining
 * words; each group sorted by name. Words match the beginning of a word, whatever the case.
 * @param pattern part of a name, in which * matches anything, or words; empty: all methods
 */
export function searchMethods(
  all: ReadonlyMap<string, MethodInfo>,
  pattern: string,
): FoundMethod[] {
  const matchesName = toNameTest(pattern);
  // A pattern with * or . is a part of a name only.
  const words = /[*.]/.test(pattern) ? [] : toWordTests(pattern);
  const rankOf = ([name, info]: FoundMethod): number => {
    if (matchesName(name)) return BY_NAME;
    if (words.length === 0) return NO_MATCH;
    const summary = `${withWords(name)} ${info.description ?? ""}`;
    const missing = words.filter((word) => !word.test(summary));
    if (missing.length === 0) return BY_SUMMARY;
    const parameters = textsOf({ properties: info.params ?? {} }).join(" ");
    return missing.every((word) => word.test(parameters))
      ? BY_PARAMETERS
      : NO_MATCH;
  };
  return [...all]
    .map((found) => ({ found, rank: rankOf(found) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || (a.found[0] < b.found[0] ? -1 : 1))
    .map(({ found }) => found);
}

const [BY_NAME, BY_SUMMARY, BY_PARAMETERS, NO_MATCH] = [0, 1, 2, 3] as const;

/** Names, descriptions and allowed values of a parameter and its members. */
function textsOf(info: ParameterInfo): string[] {
  const { description = "", items, anyOf = [], properties = {} } = info;
  return [
    description,
    ...(info.enum ?? []).map(String),
    ...(items === undefined ? [] : textsOf(items)),
    ...anyOf.flatMap(textsOf),
    ...Object.entries(properties).flatMap(([name, member]) => [
      withWords(name),
      ...textsOf(member),
    ]),
  ];
}

/** A name in camel case, followed by its words. */
function withWords(name: string): string {
  return `${name} ${name.replace(/([a-z0-9])([A-Z])/g, "$1 $2")}`;
}

function toWordTests(text: string): RegExp[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).map(
    (word) => new RegExp(`\\b${word}`, "i"),
  );
}

function toNameTest(pattern: string): (name: string) => boolean {
  const source = pattern
    .split("*")
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  const regex = new RegExp(pattern.includes("*") ? `^${source}$` : source, "i");
  return (name) => regex.test(name);
}
