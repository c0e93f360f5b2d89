import { tokensOf, type FilterToken } from "./tokens.js";

/** The term at the caret. */
export interface CaretTerm {
  /** Names of the properties around the value, outermost first. */
  readonly names: readonly string[];
  /** `number`: after a comparison operator; `none`: nothing can be proposed here. */
  readonly kind: "term" | "number" | "none";
  /** Start of the text that a completion replaces, including an opening quote. */
  readonly from: number;
  readonly to: number;
  /** Text from there to the caret, without the quote. */
  readonly typed: string;
  /** Start of the whole term, including its property names and `!`. */
  readonly start: number;
}

/** The term at a position of a text that may not be a valid filter yet. */
export function termAt(text: string, caret: number): CaretTerm {
  const walk = new TermWalk(text);
  for (const token of tokensOf(text)) {
    if (token.from >= caret) break;
    if (caret <= token.to && isTyped(token))
      return walk.at(token.from, token.to, caret);
    walk.pass(token);
  }
  return walk.at(caret, caret, caret);
}

function isTyped({ kind }: FilterToken): boolean {
  return kind !== "space" && kind !== "sign" && kind !== "bad";
}

class TermWalk {
  readonly #text: string;
  /** Property names around each open group. */
  readonly #groups: string[][] = [];
  #names: string[] = [];
  #start: number | undefined;
  #name: string | undefined;
  #kind: CaretTerm["kind"] = "term";

  constructor(text: string) {
    this.#text = text;
  }

  at(from: number, to: number, caret: number): CaretTerm {
    const typed = this.#text.slice(from, caret);
    const isPattern = typed.startsWith("/");
    return {
      names: this.#names,
      kind: isPattern ? "none" : this.#kind,
      from,
      to,
      typed: typed.replace(/^"/, "").replace(/\\([^])/g, "$1"),
      start: this.#start ?? from,
    };
  }

  pass(token: FilterToken): void {
    const piece = this.#text.slice(token.from, token.to);
    if (token.kind === "space") {
      if (this.#kind === "none") this.#kind = "term";
      return;
    }
    this.#start ??= token.from;
    if (token.kind === "name") this.#name = unquote(piece);
    else if (token.kind === "sign") this.#passSign(piece);
    else this.#end();
  }

  #passSign(sign: string): void {
    switch (sign) {
      case ":":
        this.#names = [...this.#names, this.#name ?? ""];
        break;
      case "(":
        this.#groups.push(this.#names);
        this.#start = undefined;
        break;
      case ")":
        this.#groups.pop();
        this.#end();
        break;
      case "?":
        this.#end();
        break;
      case "|":
      case "!":
        break;
      default:
        this.#kind = "number";
    }
  }

  /** After a complete term, the enclosing group continues. */
  #end(): void {
    this.#names = this.#groups.at(-1) ?? [];
    this.#start = undefined;
    this.#kind = "none";
  }
}

function unquote(piece: string): string {
  return piece.startsWith('"')
    ? piece.slice(1, -1).replace(/\\([^])/g, "$1")
    : piece;
}
