import type { AST } from "@eslint-community/regexpp";
import { RE2Set } from "re2js";

/** Of the states that an engine keeps; beyond it, it goes on without. */
const MEMORY_BYTES = 262_144;

/** Both ends included. */
type Range = readonly [from: number, to: number];

const LAST = 0x10ffff;
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
const SPACES: readonly Range[] = [
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
 * An expression of JavaScript in the engine of RE2, whose time grows with the
 * text times the expression's size, whatever they are. Two letters differ: with
 * case ignored, the long s and the Kelvin sign are s and k here. Characters
 * beyond the Basic Multilingual Plane are one here, two in JavaScript.
 * @returns undefined for what such an engine cannot do: looking around and back, and huge repetitions
 */
export function createLinearPattern(
  pattern: AST.Pattern,
  ignoreCase: boolean,
): ((text: string) => boolean) | undefined {
  const source = alternatives(pattern.alternatives);
  if (source === undefined) return undefined;
  const engine = new RE2Set(RE2Set.UNANCHORED, 0, MEMORY_BYTES);
  try {
    engine.add((ignoreCase ? "(?i)" : "") + source);
    engine.compile();
  } catch {
    return undefined;
  }
  return (text) => engine.match(text).length > 0;
}

function alternatives(list: readonly AST.Alternative[]): string | undefined {
  const written = list.map(({ elements }) => sequence(elements));
  return written.includes(undefined) ? undefined : `(?:${written.join("|")})`;
}

function sequence(elements: readonly AST.Element[]): string | undefined {
  let written = "";
  for (let at = 0; at < elements.length; at++) {
    const pair = surrogatePair(elements[at], elements[at + 1]);
    const one = pair === undefined ? element(elements[at]!) : character(pair);
    if (one === undefined) return undefined;
    written += one;
    if (pair !== undefined) at++;
  }
  return written;
}

/** JavaScript reads two halves where RE2 reads one character. */
function surrogatePair(
  high: AST.Element | undefined,
  low: AST.Element | undefined,
): number | undefined {
  if (high?.type !== "Character" || low?.type !== "Character") return undefined;
  const both = String.fromCharCode(high.value, low.value).codePointAt(0)!;
  return both > 0xffff ? both : undefined;
}

function element(node: AST.Element): string | undefined {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return alternatives(node.alternatives);
    case "Quantifier":
      return repeated(node);
    case "Assertion":
      return assertion(node);
    case "Character":
      return character(node.value);
    case "CharacterSet":
      return set(
        rangesText(rangesOf(node)),
        node.kind !== "any" && node.negate,
      );
    case "CharacterClass":
      return characterClass(node);
    case "Backreference":
    case "ExpressionCharacterClass":
      return undefined;
  }
}

function repeated(node: AST.Quantifier): string | undefined {
  const one = element(node.element);
  if (one === undefined) return undefined;
  const max = node.max === Infinity ? "" : String(node.max);
  return `(?:${one}){${String(node.min)},${max}}`;
}

function assertion(node: AST.Assertion): string | undefined {
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

function characterClass(node: AST.CharacterClass): string {
  return set(node.elements.map(classPart).join(""), node.negate);
}

function classPart(part: AST.CharacterClassElement): string {
  switch (part.type) {
    case "Character":
      return character(part.value);
    case "CharacterClassRange":
      return rangesText([[part.min.value, part.max.value]]);
    case "CharacterSet":
      return setInClass(part);
    // Only with the flag v
    case "CharacterClass":
    case "ClassStringDisjunction":
    case "ExpressionCharacterClass":
      return "";
  }
}

function setInClass(node: AST.CharacterSet): string {
  const negate = node.kind !== "any" && node.negate;
  if (!negate) return rangesText(rangesOf(node));
  // Written out, W would fold to word characters where case is ignored.
  return node.kind === "word" ? "\\W" : rangesText(allBut(rangesOf(node)));
}

function rangesOf(node: AST.CharacterSet): readonly Range[] {
  switch (node.kind) {
    case "any":
      return allBut(LINE_ENDS);
    case "digit":
      return DIGITS;
    case "space":
      return SPACES;
    case "word":
      return WORDS;
    case "property":
      return [];
  }
}

/** What lies between sorted ranges. */
function allBut(ranges: readonly Range[]): Range[] {
  const between: Range[] = [];
  let from = 0;
  for (const [start, end] of ranges) {
    between.push([from, start - 1]);
    from = end + 1;
  }
  return [...between, [from, LAST]];
}

function set(inside: string, negate: boolean): string {
  if (inside === "") return set(rangesText([[0, LAST]]), !negate);
  return `[${negate ? "^" : ""}${inside}]`;
}

function rangesText(ranges: readonly Range[]): string {
  return ranges
    .map(([from, to]) => `${character(from)}-${character(to)}`)
    .join("");
}

function character(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
