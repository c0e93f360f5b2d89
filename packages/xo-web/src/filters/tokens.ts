import { isRawText, numberOfRaw } from "@xo-server/filter";

/**
 * A piece of a filter as it is typed. `name`: of a property; `word`: any other text
 * without quotes; `isOpen`: a quote or an expression that has no end yet.
 */
export interface FilterToken {
  readonly kind:
    | "name"
    | "word"
    | "number"
    | "quoted"
    | "pattern"
    | "sign"
    | "space"
    | "bad";
  readonly from: number;
  readonly to: number;
  readonly isOpen?: boolean;
}

const PIECE =
  /(?<space>\s+)|(?<quoted>"(?:[^"\\]|\\[^])*"?)|(?<pattern>\/(?:[^/\\]|\\[^])*(?:\/i?)?)|(?<sign>[<>]=?|[()|!?:])|(?<word>[\p{L}\p{M}\p{Nd}_\-.$*]+)|(?<bad>[^])/gu;

/** Splits any text into pieces without gaps; the text need not be a valid filter. */
export function tokensOf(text: string): readonly FilterToken[] {
  const tokens: FilterToken[] = [];
  for (const { index, 0: piece, groups = {} } of text.matchAll(PIECE)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    const range = { from: index, to: index + piece.length };
    tokens.push(toToken(kind as FilterToken["kind"], piece, range));
  }
  return tokens.map((token, at) =>
    isNameable(token, text) && isBeforeColon(tokens, at, text)
      ? { ...token, kind: "name" }
      : token,
  );
}

function toToken(
  kind: FilterToken["kind"],
  piece: string,
  range: { from: number; to: number },
): FilterToken {
  if (kind === "word" && numberOfRaw(piece) !== undefined)
    return { kind: "number", ...range };
  const isOpen =
    (kind === "quoted" && !/^"(?:[^"\\]|\\[^])*"$/.test(piece)) ||
    (kind === "pattern" && !/^\/(?:[^/\\]|\\[^])*\/i?$/.test(piece));
  return { kind, ...range, ...(isOpen ? { isOpen } : {}) };
}

function isNameable({ kind, from, to }: FilterToken, text: string): boolean {
  if (kind === "quoted") return true;
  return (
    (kind === "word" || kind === "number") && isRawText(text.slice(from, to))
  );
}

/** `name:`, with or without space; `name?` without. */
function isBeforeColon(
  tokens: readonly FilterToken[],
  at: number,
  text: string,
): boolean {
  const next = tokens[at + 1];
  if (next === undefined) return false;
  if (text[next.from] === "?") return true;
  const sign = next.kind === "space" ? tokens[at + 2] : next;
  return sign !== undefined && text[sign.from] === ":" && sign.kind === "sign";
}
