import type { Survival, SurvivalStep } from "@xo-server/placement";
import { fill } from "../../locale/messages.js";
import type { RuleLocalization } from "../rule-text.js";

type SurvivalTone = "good" | "warn" | "bad";

/** How many host failures a pool survives, in a sentence. */
export function survivalSentence(
  survival: Survival,
  protectedVms: number,
  { text, formats }: RuleLocalization,
): { readonly label: string; readonly tone: SurvivalTone } {
  const { survival: label } = text.placementFailures;
  const { failures, atMost, isExact } = survival;
  if (protectedVms === 0) return { label: label.nothing, tone: "warn" };
  if (!isExact && atMost > failures) {
    const least =
      failures === 0 ? label.leastNone : formats.plural(label.least, failures);
    const most = isBeyond(survival)
      ? label.beyond
      : fill(label.most, { n: formats.count(atMost) });
    return { label: `${least} ${most}`, tone: failures > 0 ? "good" : "warn" };
  }
  return failures === 0
    ? { label: label.none, tone: "bad" }
    : { label: formats.plural(label.exact, failures), tone: "good" };
}

/** All examined numbers of failures are survived. */
export function isBeyond({ failures, isExact, steps }: Survival): boolean {
  if (isExact || failures === 0) return false;
  return steps.every((step) => step.holds === "yes");
}

/** A warning about the configured number of failures; undefined: none. */
export function toleranceWarning(
  tolerated: number,
  { failures, atMost, isExact }: Survival,
  { text, formats }: RuleLocalization,
): string | undefined {
  const { survival: label } = text.placementFailures;
  if (tolerated <= failures) return undefined;
  const isCertain = isExact || tolerated > atMost;
  return fill(isCertain ? label.tooMany : label.uncertain, {
    set: formats.count(tolerated),
    n: formats.count(isCertain ? atMost : failures),
  });
}

/** How the result for a number of failures was proven. */
export function stepText(
  { failures, holds, by, sets }: SurvivalStep,
  { text, formats }: RuleLocalization,
): string {
  const { steps } = text.placementFailures;
  const how =
    by === "exhaustive" ? formats.plural(steps.sets, sets) : steps.by[by];
  return fill(steps.line, {
    failures: formats.plural(steps.failures, failures),
    holds: steps.holds[holds],
    how,
  });
}
