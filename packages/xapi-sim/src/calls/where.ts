import { datamodel } from "@xo-server/model";
import { XapiFailure } from "../xapi-failure.js";
import { databaseText } from "../database-text.js";
import type { XapiRecord } from "../xapi-value.js";

type Predicate = (record: XapiRecord) => boolean;

/**
 * XAPI's expression language of get_all_where and get_all_records_where:
 * `field "is_a_template" = "true" and not (field "name__label" = "x")`.
 * Values are compared as database strings.
 *
 * @throws XapiFailure INVALID_VALUE
 */
export function parseWhere(className: string, expression: string): Predicate {
  const tokens = tokenize(expression);
  const parser = new WhereParser(className, tokens, expression);
  return parser.whole();
}

const TOKEN = /\s*(?:(["'])((?:\\.|(?!\1).)*)\1|([a-z]+)\b|([()=]))/y;

interface Token {
  readonly kind: "literal" | "word";
  readonly text: string;
}

function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (expression.slice(at).trim() !== "") {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(expression);
    if (match === null) bad(expression);
    const [, , literal, word, sign] = match;
    if (literal !== undefined)
      tokens.push({ kind: "literal", text: literal.replace(/\\(.)/g, "$1") });
    else tokens.push({ kind: "word", text: word ?? sign! });
    at = TOKEN.lastIndex;
  }
  return tokens;
}

function bad(expression: string): never {
  throw new XapiFailure("INVALID_VALUE", [
    expression,
    'Failure("lexing: empty token")',
  ]);
}

class WhereParser {
  readonly #className: string;
  readonly #tokens: readonly Token[];
  readonly #expression: string;
  #at = 0;

  constructor(className: string, tokens: readonly Token[], expression: string) {
    this.#className = className;
    this.#tokens = tokens;
    this.#expression = expression;
  }

  whole(): Predicate {
    const predicate = this.#or(0);
    if (this.#at < this.#tokens.length) bad(this.#expression);
    return predicate;
  }

  #or(depth: number): Predicate {
    let left = this.#and(depth);
    while (this.#take("or")) {
      const [a, b] = [left, this.#and(depth)];
      left = (record) => a(record) || b(record);
    }
    return left;
  }

  #and(depth: number): Predicate {
    let left = this.#not(depth);
    while (this.#take("and")) {
      const [a, b] = [left, this.#not(depth)];
      left = (record) => a(record) && b(record);
    }
    return left;
  }

  #not(depth: number): Predicate {
    if (depth > 500) bad(this.#expression);
    if (this.#take("not")) {
      const inner = this.#not(depth + 1);
      return (record) => !inner(record);
    }
    if (this.#take("true")) return () => true;
    if (this.#take("false")) return () => false;
    if (this.#take("(")) {
      const inner = this.#or(depth + 1);
      if (!this.#take(")")) bad(this.#expression);
      return inner;
    }
    const left = this.#operand();
    if (!this.#take("=")) bad(this.#expression);
    const right = this.#operand();
    return (record) => left(record) === right(record);
  }

  /** `field "name"` or a literal. */
  #operand(): (record: XapiRecord) => string {
    const isField = this.#take("field");
    const token = this.#tokens[this.#at++];
    if (token?.kind !== "literal") bad(this.#expression);
    const text = token.text;
    if (!isField) return () => text;
    const name = this.#fieldName(text);
    return (record) => databaseText(record[name]!);
  }

  #fieldName(text: string): string {
    const fields = datamodel.classes[this.#className]!.fields;
    const name = text.replace("__", "_");
    if (!Object.hasOwn(fields, name) || databaseName(name) !== text)
      throw new XapiFailure("INTERNAL_ERROR", ["missing field", text, ""]);
    return name;
  }

  #take(word: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "word" || token.text !== word) return false;
    this.#at++;
    return true;
  }
}

/** Groups of fields that the datamodel nests: the database says `name__label` where records say `name_label`. */
const GROUPS = /^(name|memory|VCPUs|PV|HVM|actions|io)_(?!drivers)/;

function databaseName(field: string): string {
  return field.replace(GROUPS, "$1__");
}
