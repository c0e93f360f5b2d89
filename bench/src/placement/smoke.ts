import { figureOf, type Report } from "../harness/result.js";
import type { Section } from "./placement-rows.js";

/** Of every row of a section. */
const FIGURES: Readonly<Record<Section, readonly string[]>> = {
  scenario: ["ms", "cpuMs", "repairMs", "failoverMs", "allMs", "survived"],
  pacemaker: ["ms", "outMs"],
  curve: ["ms", "warmMs", "bytesPerVm"],
  evacuation: ["ms", "actions"],
  balance: ["ms", "actions", "aboveBefore"],
  survival: ["ms", "failures", "sets"],
  quality: ["solvable", "missed", "sharePercent"],
};

/**
 * Requirement of a smoke run in CI: every row has every figure, and every VM
 * was placed. Times are not compared. Rows skipped because Pacemaker is not
 * installed do not count.
 * @throws Error naming the incomplete rows
 */
export function checkShape({ results }: Report): void {
  const wrong = results.flatMap((result) => {
    const { mode, place, failure, runs } = result;
    if (runs === 0 && failure === undefined) return [];
    if (failure !== undefined) return [`${mode}: ${failure}`];
    const missing = FIGURES[place as Section].filter(
      (name) => !Number.isFinite(figureOf(result, name)),
    );
    if (figureOf(result, "placed") === 0) missing.push("VM placed");
    return missing.length === 0 ? [] : [`${mode}: no ${missing.join(", ")}`];
  });
  if (wrong.length > 0)
    throw new Error(`rows without figures:\n${wrong.join("\n")}`);
}
