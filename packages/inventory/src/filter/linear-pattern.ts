import type { AST } from "@eslint-community/regexpp";
import { RE2Set } from "re2js";

/**
 * Memory limit of the engine's state cache; beyond it, matching continues
 * without the cache.
 */
const MEMORY_BYTES = 262_144;

/** Characters of ranges in an expression that ignores the case: 4 ms of CPU time. */
const MAX_FOLDED = 150_000;

/** Inclusive on both ends. */
type Range = readonly [from: number, to: number];

const MAX_CODE_POINT = 0x10ffff;
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORDS: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const WHITESPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/**
 * Translates a JavaScript regular expression for RE2, whose time is bounded by
 * the length of the text times the size of the expression. Known differences:
 * with ignored case, the long s and the Kelvin sign match s and k here;
 * characters beyond the Basic Multilingual Plane are one character here, two in
 * JavaScript.
 * @returns undefined for features that RE2 does not have: lookaround,
 *   backreferences, and very large repetitions
 */
export function createLinearPattern(
  pattern: AST.Pattern,
  ignoreCase: boolean,
): ((text: string) => boolean) | undefined {
  const source = alternativesSource(pattern.alternatives);
  if (source === undefined) return undefined;
  if (ignoreCase && countFolded(source) > MAX_FOLDED) return undefined;
  const engine = new RE2Set(RE2Set.UNANCHORED, 0, MEMORY_BYTES);
  try {
    engine.add((ignoreCase ? "(?i)" : "") + source);
    engine.compile();
  } catch {
    return undefined;
  }
  return (text) => engine.match(text).length > 0;
}

const CASE_SENSITIVE = /\(\?-i:\[[^\]]*\]\)/g;
const RANGE = /\\x\{([\da-f]+)\}-\\x\{([\da-f]+)\}/g;

/** Number of characters in the ranges of a translated expression whose other case RE2 looks up. */
function countFolded(source: string): number {
  const ranges = source.replace(CASE_SENSITIVE, "").matchAll(RANGE);
  let count = 0;
  for (const [, from, to] of ranges) {
    const length = parseInt(to!, 16) - parseInt(from!, 16) + 1;
    // RE2 knows that all characters include their other cases.
    if (length <= MAX_CODE_POINT) count += length;
  }
  return count;
}

function alternativesSource(
  list: readonly AST.Alternative[],
): string | undefined {
  const sources = list.map(({ elements }) => sequenceSource(elements));
  return sources.includes(undefined) ? undefined : `(?:${sources.join("|")})`;
}

function sequenceSource(elements: readonly AST.Element[]): string | undefined {
  let source = "";
  for (let at = 0; at < elements.length; at++) {
    const pair = surrogatePair(elements[at], elements[at + 1]);
    const one =
      pair === undefined
        ? elementSource(elements[at]!)
        : escapedCharacter(pair);
    if (one === undefined) return undefined;
    source += one;
    if (pair !== undefined) at++;
  }
  return source;
}

/**
 * A surrogate pair is two characters for JavaScript without the flag u and one
 * for RE2.
 */
function surrogatePair(
  high: AST.Element | undefined,
  low: AST.Element | undefined,
): number | undefined {
  if (high?.type !== "Character" || low?.type !== "Character") return undefined;
  const both = String.fromCharCode(high.value, low.value).codePointAt(0)!;
  return both > 0xffff ? both : undefined;
}

function elementSource(node: AST.Element): string | undefined {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return alternativesSource(node.alternatives);
    case "Quantifier":
      return quantifierSource(node);
    case "Assertion":
      return assertionSource(node);
    case "Character":
      return escapedCharacter(node.value);
    case "CharacterSet":
      return setSource(node);
    case "CharacterClass":
      return characterClassSource(node);
    case "Backreference":
    case "ExpressionCharacterClass":
      return undefined;
  }
}

function quantifierSource(node: AST.Quantifier): string | undefined {
  const one = elementSource(node.element);
  if (one === undefined) return undefined;
  const max = node.max === Infinity ? "" : String(node.max);
  return `(?:${one}){${String(node.min)},${max}}`;
}

function assertionSource(node: AST.Assertion): string | undefined {
  switch (node.kind) {
    case "start":
      return "\\A";
    case "end":
      return "\\z";
    case "word":
      return node.negate ? "\\B" : "\\b";
    case "lookahead":
    case "lookbehind":
      return undefined;
  }
}

function setSource(node: AST.CharacterSet): string {
  const negate = node.kind !== "any" && node.negate;
  const source = classSource(rangesSource(rangesOf(node)), negate);
  // The others are the same for both cases: RE2 would look up the cases of each of their characters.
  return node.kind === "word" ? source : `(?-i:${source})`;
}

function characterClassSource(node: AST.CharacterClass): string {
  return classSource(
    node.elements.map(classElementSource).join(""),
    node.negate,
  );
}

function classElementSource(part: AST.CharacterClassElement): string {
  switch (part.type) {
    case "Character":
      return escapedCharacter(part.value);
    case "CharacterClassRange":
      return rangesSource([[part.min.value, part.max.value]]);
    case "CharacterSet":
      return nestedClassSource(part);
    // Occur only with the flag v.
    case "CharacterClass":
    case "ClassStringDisjunction":
    case "ExpressionCharacterClass":
      return "";
  }
}

function nestedClassSource(node: AST.CharacterSet): string {
  const negate = node.kind !== "any" && node.negate;
  if (!negate) return rangesSource(rangesOf(node));
  // As explicit ranges, \\W would match word characters when case is ignored.
  return node.kind === "word"
    ? "\\W"
    : rangesSource(complement(rangesOf(node)));
}

function rangesOf(node: AST.CharacterSet): readonly Range[] {
  switch (node.kind) {
    case "any":
      return complement(LINE_ENDS);
    case "digit":
      return DIGITS;
    case "space":
      return WHITESPACE;
    case "word":
      return WORDS;
    case "property":
      return [];
  }
}

/** The complement of sorted ranges. */
function complement(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let from = 0;
  for (const [start, end] of ranges) {
    gaps.push([from, start - 1]);
    from = end + 1;
  }
  return [...gaps, [from, MAX_CODE_POINT]];
}

function classSource(inside: string, negate: boolean): string {
  if (inside === "")
    return classSource(rangesSource([[0, MAX_CODE_POINT]]), !negate);
  return `[${negate ? "^" : ""}${inside}]`;
}

function rangesSource(ranges: readonly Range[]): string {
  return ranges
    .map(([from, to]) => `${escapedCharacter(from)}-${escapedCharacter(to)}`)
    .join("");
}

function escapedCharacter(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
