import { RegExpParser, type AST } from "@eslint-community/regexpp";
import { createLinearPattern } from "./linear-pattern.js";
import { costOf, maxTextLength } from "./pattern-cost.js";

/** Tests a text. */
export type Pattern = (text: string) => boolean;

export const patternLimits = {
  /** Of an expression, in characters. */
  length: 1_000,
  /** Characters, classes and assertions of an expression, with repetitions written out. */
  size: 10_000,
  /** Of a text, in UTF-16 units: what stands behind is not looked at. Expensive expressions see less, but at least `leastText`. */
  text: 4_096,
  minText: 256,
};

// Both are some milliseconds at most.
const NATIVE_STEPS = 200_000;
const LINEAR_STEPS = 400_000;

/** Stands for what was cut off, so that no end is seen there. No text has this character. */
const CUT_MARK = "\uffff";

const SIMPLER_PATTERN = "a simpler regular expression";

const syntax = new RegExpParser({ ecmaVersion: 2024 });

/**
 * A regular expression from outside, in JavaScript's syntax. JavaScript's engine
 * can take forever, so it gets only texts that are short enough for the
 * expression at hand, by its form; the others go to an engine whose time grows
 * with the text. docs/decisions/006-two-engines-for-patterns.md tells why both.
 * @returns the pattern, or what was expected in its place
 */
export function createPattern(
  source: string,
  ignoreCase: boolean,
): Pattern | string {
  if (source.length > patternLimits.length)
    return `a regular expression of at most ${String(patternLimits.length)} characters`;
  const ast = parse(source);
  if (ast === undefined) return "a regular expression";
  const { size } = costOf(ast);
  if (size > patternLimits.size) return SIMPLER_PATTERN;
  const native = createNativePattern(source, ignoreCase);
  const nativeLength = maxTextLength(ast, NATIVE_STEPS);
  if (nativeLength >= patternLimits.text)
    return truncating(native, patternLimits.text);
  const linearLength = Math.min(
    patternLimits.text,
    Math.floor(LINEAR_STEPS / size),
  );
  const linear =
    linearLength > nativeLength
      ? createLinearPattern(ast, ignoreCase)
      : undefined;
  if (Math.max(nativeLength, linear ? linearLength : 0) < patternLimits.minText)
    return SIMPLER_PATTERN;
  if (linear === undefined) return truncating(native, nativeLength);
  const rest = truncating(linear, linearLength);
  return (text) => (text.length <= nativeLength ? native(text) : rest(text));
}

function parse(source: string): AST.Pattern | undefined {
  try {
    new RegExp(source);
    return syntax.parsePattern(source, 0, source.length, {});
  } catch {
    return undefined;
  }
}

function createNativePattern(source: string, ignoreCase: boolean): Pattern {
  const regex = new RegExp(source, ignoreCase ? "i" : "");
  return (text) => regex.test(text);
}

function truncating(pattern: Pattern, length: number): Pattern {
  return (text) =>
    pattern(text.length > length ? text.slice(0, length - 1) + CUT_MARK : text);
}
