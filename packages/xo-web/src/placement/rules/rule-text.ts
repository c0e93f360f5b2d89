import {
  sentenceOf,
  type Sentence,
  type RuleLocalization,
} from "../rule-text.js";
import type { PlacementRule } from "./placement-rule.js";

/** Hosts that are named; further ones are counted. */
const NAMED = 4;

/** A rule as a sentence. */
export function ruleText(
  { kind, hosts = [], score = 1, required }: PlacementRule,
  { text, formats }: RuleLocalization,
): Sentence {
  const { sentences, hostCount } = text.placement.rules;
  if (kind === "anti-affinity")
    return [sentences[required ? "anti-affinity" : "antiAffinityPreferred"]];
  if (kind === "affinity")
    return [sentences[required ? "affinity" : "affinityPreferred"]];
  const template =
    score < 0
      ? sentences[required ? "never" : "preferredNot"]
      : sentences[required ? "only" : "preferred"];
  return sentenceOf(template, {
    hosts:
      hosts.length > NAMED
        ? formats.plural(hostCount, hosts.length)
        : hosts.map((id) => ({ type: "host", id })),
  });
}
