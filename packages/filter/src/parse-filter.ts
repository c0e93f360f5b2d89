import type { Filter } from "./filter.js";
import { FilterSyntaxError } from "./filter-syntax-error.js";
import { amountOfRaw, numberOfRaw, rawGlob, rawText } from "./raw-text.js";

/** Limits of filters. */
export const filterLimits = {
  /** UTF-16 units. */
  length: 16_384,
  /** Levels of nesting. */
  depth: 64,
  terms: 1_024,
  /** Regular expressions. */
  patterns: 16,
};

const SPACE = /\s*/y;
const NAME = rawText();
const GLOB = rawGlob();
const OPERATOR = /[<>]=?/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y;
// Up to the first slash that is not escaped, also inside a class.
const REGEX = /\/((?:[^/\\]|\\[^])*)\/(i?)/y;

/**
 * Checks a regular expression. Returns what was expected instead, undefined
 * when it is valid.
 */
export type PatternCheck = (
  source: string,
  ignoreCase: boolean,
) => string | undefined;

/**
 * Parses a filter. Terms next to each other become `and`; a group of one term
 * is that term; no term at all is an empty `and`.
 * @param checkPattern default: JavaScript syntax; the server accepts fewer
 *   expressions
 * @throws FilterSyntaxError
 */
export function parseFilter(
  text: string,
  checkPattern: PatternCheck = checkSyntax,
): Filter {
  return new FilterParser(text, checkPattern).parse();
}

/** Recursive descent parser; `#at` is the current position. */
class FilterParser {
  readonly #text: string;
  readonly #checkPattern: PatternCheck;
  #at = 0;
  #depth = 0;
  #terms = 0;
  #patterns = 0;

  constructor(text: string, checkPattern: PatternCheck) {
    this.#text = text;
    this.#checkPattern = checkPattern;
  }

  parse(): Filter {
    if (this.#text.length > filterLimits.length)
      this.#fail(
        `at most ${String(filterLimits.length)} characters`,
        filterLimits.length,
      );
    this.#skipSpace();
    const terms: Filter[] = [];
    while (this.#at < this.#text.length) terms.push(this.#term());
    return groupOf("and", terms);
  }

  /** Parses a term and the white space behind it. */
  #term(): Filter {
    if (++this.#terms > filterLimits.terms)
      this.#fail(`at most ${String(filterLimits.terms)} terms`);
    if (++this.#depth > filterLimits.depth)
      this.#fail(`at most ${String(filterLimits.depth)} levels`);
    const term = this.#termOf(this.#text.charAt(this.#at));
    this.#depth--;
    this.#skipSpace();
    return term;
  }

  #termOf(start: string): Filter {
    switch (start) {
      case "(":
        return this.#group("and");
      case "|":
        this.#skipCharacter();
        return this.#group("or");
      case "!":
        this.#skipCharacter();
        return { kind: "not", term: this.#term() };
      case "<":
      case ">":
        return this.#comparison();
      case "/":
        return this.#regex();
      default:
        return this.#propertyOrText();
    }
  }

  #group(kind: "and" | "or"): Filter {
    if (this.#text[this.#at] !== "(") this.#fail('"("');
    this.#skipCharacter();
    const terms = [this.#term()];
    while (this.#text[this.#at] !== ")") {
      if (this.#at === this.#text.length) this.#fail('a term or ")"');
      terms.push(this.#term());
    }
    this.#at++;
    return groupOf(kind, terms);
  }

  #comparison(): Filter {
    const operator = this.#match(OPERATOR)![0] as "<" | "<=" | ">" | ">=";
    const start = this.#at;
    const number = amountOfRaw(this.#match(NAME)?.[0] ?? "");
    if (number === undefined) this.#fail("a number", start);
    return { kind: "compare", operator, number };
  }

  #regex(): Filter {
    const start = this.#at;
    const found = this.#match(REGEX);
    if (found === null) this.#fail('"/" at the end of the expression', start);
    if (++this.#patterns > filterLimits.patterns)
      this.#fail(
        `at most ${String(filterLimits.patterns)} regular expressions`,
        start,
      );
    const source = found[1]!;
    const ignoreCase = found[2] === "i";
    const expected = this.#checkPattern(source, ignoreCase);
    if (expected !== undefined) this.#fail(expected, start);
    return { kind: "regex", source, ignoreCase };
  }

  #propertyOrText(): Filter {
    const quoted = this.#quoted();
    const raw = quoted ?? this.#match(NAME)?.[0];
    if (quoted === undefined && this.#text[this.#at] === "*")
      return this.#glob(raw ?? "");
    if (raw === undefined) this.#fail("a term");
    if (this.#text[this.#at] === "?") {
      this.#at++;
      return { kind: "truthy", name: raw };
    }
    this.#skipSpace();
    if (this.#text[this.#at] === ":") {
      this.#skipCharacter();
      return { kind: "property", name: raw, term: this.#term() };
    }
    const number = quoted === undefined ? numberOfRaw(raw) : undefined;
    return number === undefined
      ? { kind: "text", text: raw }
      : { kind: "text", text: raw, number };
  }

  #glob(start: string): Filter {
    return { kind: "glob", pattern: start + this.#match(GLOB)![0] };
  }

  #quoted(): string | undefined {
    if (this.#text[this.#at] !== '"') return undefined;
    const found = this.#match(QUOTED);
    if (found === null) this.#fail("a closing quote", this.#text.length);
    return found[1]!.replace(/\\([^])/g, "$1");
  }

  /**
   * Matches a sticky expression at the current position and moves behind the
   * match.
   */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** Skips one character and the white space behind it. */
  #skipCharacter(): void {
    this.#at++;
    this.#skipSpace();
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #fail(expected: string, position = this.#at): never {
    throw new FilterSyntaxError(expected, position);
  }
}

function groupOf(kind: "and" | "or", terms: readonly Filter[]): Filter {
  return terms.length === 1 ? terms[0]! : { kind, terms };
}

function checkSyntax(source: string): string | undefined {
  try {
    new RegExp(source);
    return undefined;
  } catch {
    // Reported with the position of the pattern, not with the message of the engine.
    return "a regular expression";
  }
}
