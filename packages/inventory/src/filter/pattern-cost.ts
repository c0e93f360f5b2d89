import type { AST } from "@eslint-community/regexpp";

/**
 * Upper bound `times` x (text length + 1) ^ `degree`; a degree of Infinity
 * means exponential.
 */
interface Growth {
  readonly times: number;
  readonly degree: number;
}

/**
 * Cost of a backtracking engine for an expression, starting at one position of
 * the text: an upper bound for the worst text.
 */
interface PatternCost {
  /** Number of paths through the expression for the worst text. */
  readonly ways: Growth;
  /** Characters, classes and assertions compared on all these paths. */
  readonly steps: Growth;
  /** Their number in the expression, with repetitions expanded. */
  readonly size: number;
}

const ONE: Growth = { times: 1, degree: 0 };
const SINGLE: PatternCost = { ways: ONE, steps: ONE, size: 1 };

/** Worst-case cost of an expression. */
export function costOf(pattern: AST.Pattern): PatternCost {
  return alternativesCost(pattern.alternatives);
}

/** Length of the longest text that is searched within `steps`; negative: none. */
export function maxTextLength(pattern: AST.Pattern, steps: number): number {
  const { times, degree } = costOf(pattern).steps;
  const power = degree + (isAnchored(pattern) ? 0 : 1);
  if (times > steps) return -1;
  return power === 0
    ? Infinity
    : Math.floor((steps / times) ** (1 / power)) - 1;
}

/** Whether it can match only at the start of the text. */
function isAnchored({ alternatives }: AST.Pattern): boolean {
  return alternatives.every(({ elements: [first] }) =>
    first?.type === "Assertion" ? first.kind === "start" : false,
  );
}

function alternativesCost(list: readonly AST.Alternative[]): PatternCost {
  const join = haveDistinctStarts(list) ? max : add;
  return list
    .map(({ elements }) => sequenceCost(elements.map(elementCost)))
    .reduce((all, one) => ({
      ways: join(all.ways, one.ways),
      steps: add(all.steps, one.steps),
      size: all.size + one.size,
    }));
}

/** Whether at most one alternative can match beyond its first character. */
function haveDistinctStarts(list: readonly AST.Alternative[]): boolean {
  const starts = list.flatMap(({ elements: [first] }) =>
    first?.type === "Character"
      ? String.fromCodePoint(first.value).toUpperCase()
      : [],
  );
  return new Set(starts).size === list.length;
}

function sequenceCost(parts: readonly PatternCost[]): PatternCost {
  return parts.reduce(
    (all, next) => ({
      ways: multiply(all.ways, next.ways),
      steps: add(all.steps, multiply(all.ways, next.steps)),
      size: all.size + next.size,
    }),
    SINGLE,
  );
}

function elementCost(node: AST.Element): PatternCost {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return alternativesCost(node.alternatives);
    case "Quantifier":
      return quantifierCost(elementCost(node.element), node);
    case "Assertion":
      return node.kind === "lookahead" || node.kind === "lookbehind"
        ? alternativesCost(node.alternatives)
        : SINGLE;
    case "Backreference":
      return { ways: ONE, steps: { times: 1, degree: 1 }, size: 1 };
    case "Character":
    case "CharacterClass":
    case "CharacterSet":
    case "ExpressionCharacterClass":
      return SINGLE;
  }
}

function quantifierCost(
  one: PatternCost,
  { min, max }: Pick<AST.Quantifier, "min" | "max">,
): PatternCost {
  if (max === 0) return SINGLE;
  const copies = max === Infinity ? min + 1 : max;
  const size = one.size * copies + 1;
  const isFixed = one.ways.times === 1 && one.ways.degree === 0;
  if (max === Infinity) {
    const degree = isFixed ? 1 : Infinity;
    const times = one.steps.times + 1;
    return {
      ways: { times: 1, degree },
      steps: { times, degree: degree + one.steps.degree },
      size,
    };
  }
  const ways = power(one.ways, max);
  return {
    ways: { ...ways, times: ways.times * (max - min + 1) },
    steps: multiply(ways, { ...one.steps, times: one.steps.times * max + 1 }),
    size,
  };
}

function add(a: Growth, b: Growth): Growth {
  return { times: a.times + b.times, degree: Math.max(a.degree, b.degree) };
}

function max(a: Growth, b: Growth): Growth {
  return {
    times: Math.max(a.times, b.times),
    degree: Math.max(a.degree, b.degree),
  };
}

function multiply(a: Growth, b: Growth): Growth {
  return { times: a.times * b.times, degree: a.degree + b.degree };
}

function power({ times, degree }: Growth, exponent: number): Growth {
  return { times: times ** exponent, degree: degree * exponent };
}
