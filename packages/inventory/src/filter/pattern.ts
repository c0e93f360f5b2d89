import { RegExpParser, type AST } from "@eslint-community/regexpp";
import { createLinearPattern } from "./linear-pattern.js";
import { costOf, maxTextLength } from "./pattern-cost.js";

/** Tests a string. */
type Pattern = (text: string) => boolean;

interface CompiledPattern {
  readonly test: Pattern;
  /** Size of what RE2 has compiled, which takes milliseconds; 0: nothing. */
  readonly linearSize: number;
}

export const patternLimits = {
  /** Length of an expression in characters. */
  length: 1_000,
  /**
   * Characters, classes and assertions of an expression, with repetitions
   * expanded.
   */
  size: 10_000,
  /** Of all expressions of one filter that RE2 compiles. */
  filterSize: 3_200,
  /**
   * Length of a text in UTF-16 units: the rest is ignored. Expensive
   * expressions get shorter texts, but at least `minText`.
   */
  text: 4_096,
  minText: 256,
};

// Steps per test: a few milliseconds at most in either engine.
const NATIVE_STEPS = 200_000;
const LINEAR_STEPS = 400_000;

/**
 * Replaces the cut-off rest, so that `$` does not match there. No text contains
 * this character.
 */
const CUT_MARK = "\uffff";

export const SIMPLER_PATTERN = "a simpler regular expression";

const syntax = new RegExpParser({ ecmaVersion: 2024 });

/**
 * Compiles a regular expression of a client, in JavaScript syntax. JavaScript's
 * engine can take exponential time, so it is used only for texts that are short
 * enough for the expression; longer ones are matched by RE2 in linear time. See
 * docs/decisions/006-two-engines-for-patterns.md.
 * @returns the pattern, or what was expected instead
 */
export function createPattern(
  source: string,
  ignoreCase: boolean,
): CompiledPattern | string {
  if (source.length > patternLimits.length)
    return `a regular expression of at most ${String(patternLimits.length)} characters`;
  const ast = parse(source);
  if (ast === undefined) return "a regular expression";
  const { size } = costOf(ast);
  if (size > patternLimits.size) return SIMPLER_PATTERN;
  const native = createNativePattern(source, ignoreCase);
  const nativeLength = maxTextLength(ast, NATIVE_STEPS);
  if (nativeLength >= patternLimits.text)
    return { test: truncating(native, patternLimits.text), linearSize: 0 };
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
  if (linear === undefined)
    return { test: truncating(native, nativeLength), linearSize: 0 };
  const rest = truncating(linear, linearLength);
  return {
    test: (text) => (text.length <= nativeLength ? native(text) : rest(text)),
    linearSize: size,
  };
}

function parse(source: string): AST.Pattern | undefined {
  try {
    new RegExp(source);
    return syntax.parsePattern(source, 0, source.length, {});
  } catch {
    // Not a regular expression, which the parser of filters has reported.
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
