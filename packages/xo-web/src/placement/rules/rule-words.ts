import { sentenceOf, type Sentence, type Wording } from "../rule-text.js";
import type { PlacementRule } from "./placement-rule.js";

/** Hosts that are named; more are counted. */
const NAMED = 4;

/** What a rule wants, in a sentence. */
export function ruleWords(
  { kind, hosts = [], score = 1, strict }: PlacementRule,
  { text, formats }: Wording,
): Sentence {
  const { sentences, hostCount } = text.placement.rules;
  if (kind === "apart") return [sentences[strict ? "apart" : "apartWish"]];
  if (kind === "together")
    return [sentences[strict ? "together" : "togetherWish"]];
  const template =
    score < 0
      ? sentences[strict ? "never" : "ratherNot"]
      : sentences[strict ? "only" : "rather"];
  return sentenceOf(template, {
    hosts:
      hosts.length > NAMED
        ? formats.plural(hostCount, hosts.length)
        : hosts.map((id) => ({ type: "host", id })),
  });
}
