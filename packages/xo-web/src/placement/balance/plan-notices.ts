import { fill } from "../../locale/messages.js";
import {
  sentenceOf,
  type Sentence,
  type RuleLocalization,
} from "../rule-text.js";
import { busiest, unmeasuredHosts } from "./host-changes.js";
import {
  thresholdsOf,
  type Goal,
  type Recommendation,
} from "./recommendation.js";

/** Outcome of a plan without migrations: a heading and the figures. */
interface PlanNotice {
  readonly heading: string;
  readonly lead: string;
}

/** The notice of a plan without migrations. */
export function nothingToDo(
  plan: Recommendation,
  goal: Goal,
  localization: RuleLocalization,
): PlanNotice {
  const { nothing } = localization.text.placement;
  if (plan.unplaced.length > 0)
    return { heading: nothing.impossible, lead: nothing.impossibleLead };
  if (goal === "enforce-rules")
    return { heading: nothing.rulesKept, lead: nothing.rulesKeptLead };
  if (goal === "evacuate")
    return { heading: nothing.evacuate, lead: nothing.evacuateLead };
  if (plan.stopped === "no-beneficial-migration")
    return { heading: nothing.noBetter, lead: figuresOf(plan, localization) };
  if (unmeasuredHosts(plan).length > 0)
    return { heading: nothing.notPlanned, lead: figuresOf(plan, localization) };
  return {
    heading: goal === "consolidate" ? nothing.consolidated : nothing.balanced,
    lead: figuresOf(plan, localization),
  };
}

/** The most loaded hosts and the thresholds. */
function figuresOf(
  plan: Recommendation,
  localization: RuleLocalization,
): string {
  const { text, formats } = localization;
  const { nothing } = text.placement;
  const before = plan.figuresBefore ?? [];
  const cpu = busiest(before, "cpu");
  const memory = busiest(before, "memory");
  if (cpu === undefined || memory === undefined) return nothing.noFigures;
  const { cpuHigh, memoryHigh } = thresholdsOf(plan);
  return fill(nothing.figures, {
    cpu: formats.share(cpu.share),
    cpuHigh: formats.share(cpuHigh),
    memory: formats.share(memory.share),
    memoryHigh: formats.share(memoryHigh),
  });
}

/** A note about hosts without metrics; undefined: all have metrics. */
export function unmeasuredText(
  plan: Recommendation,
  { text }: RuleLocalization,
): Sentence | undefined {
  const hosts = unmeasuredHosts(plan);
  if (hosts.length === 0) return undefined;
  return sentenceOf(text.placement.nothing.unmeasured, {
    hosts: hosts.map((id) => ({ type: "host", id })),
  });
}

/** A note that the plan reached its limit of migrations; undefined: it did not. */
export function stoppedText(
  plan: Recommendation,
  { text, formats }: RuleLocalization,
): string | undefined {
  if (plan.stopped !== "max-migrations" || plan.actions.length === 0)
    return undefined;
  return formats.plural(
    text.placement.maxMigrationsPerRun,
    plan.actions.length,
  );
}
