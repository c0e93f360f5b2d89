import type { Action, HostFigures } from "@xo-server/placement";
import { purposeText, sentenceOf } from "../rule-text.js";
import type { Mention, Sentence, RuleLocalization } from "../rule-text.js";
import { waitingMovesOf } from "./move-choice.js";
import { thresholdsOf, type Recommendation } from "./recommendation.js";

/** Why a VM is migrated, and the load of the target afterwards. */
export function moveReason(
  plan: Recommendation,
  index: number,
  localization: RuleLocalization,
): Sentence {
  const action = plan.actions[index]!;
  const cause = causeOf(plan, index, localization);
  return [...cause, ...targetOf(action, localization)];
}

function causeOf(
  plan: Recommendation,
  index: number,
  localization: RuleLocalization,
): Sentence {
  const { from, purpose } = plan.actions[index]!;
  const { reasons } = localization.text.placement;
  const host: Mention = { type: "host", id: from ?? "" };
  if (purpose === "overload" && from !== undefined) {
    const reason = overload(plan, host, localization);
    if (reason !== undefined) return reason;
  }
  if (purpose === "make-room") {
    const [next] = waitingMovesOf(plan.actions, index);
    const vm = next === undefined ? undefined : plan.actions[next]?.vm;
    if (vm !== undefined)
      return sentenceOf(reasons.makeRoom, { vm: { type: "VM", id: vm } });
  }
  if (purpose === "consolidate" && from !== undefined)
    return sentenceOf(reasons.consolidate, { host });
  if (purpose === "evacuate" && from !== undefined)
    return sentenceOf(reasons.evacuate, { host });
  return [purposeText(purpose, localization.text)];
}

function overload(
  plan: Recommendation,
  host: Mention,
  { text, formats }: RuleLocalization,
): Sentence | undefined {
  const figures = plan.figuresBefore?.find((one) => one.host === host.id);
  if (figures === undefined) return undefined;
  const { reasons } = text.placement;
  const { cpuHigh, memoryHigh } = thresholdsOf(plan);
  const by = overBy(figures, cpuHigh, memoryHigh);
  return sentenceOf(by === "memory" ? reasons.memory : reasons.cpu, {
    host,
    now: formats.share(figures[by] ?? 0),
    high: formats.share(by === "memory" ? memoryHigh : cpuHigh),
  });
}

/** The overloaded resource; of two, the worse one. */
function overBy(
  { cpu = 0, memory }: HostFigures,
  cpuHigh: number,
  memoryHigh: number,
): "cpu" | "memory" {
  return memory - memoryHigh > cpu - cpuHigh ? "memory" : "cpu";
}

function targetOf(
  { to, score }: Action,
  localization: RuleLocalization,
): Sentence {
  const { reasons } = localization.text.placement;
  const { headroom: room } = score;
  const values = { host: { type: "host", id: to } };
  return room >= 0
    ? sentenceOf(reasons.leaves, {
        ...values,
        n: localization.formats.share(room),
      })
    : sentenceOf(reasons.overloads, {
        ...values,
        n: localization.formats.share(-room),
      });
}
