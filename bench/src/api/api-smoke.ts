import { figureOf, type Report } from "../harness/result.js";
import type { Section } from "./api-rows.js";

/** Of every line of a section. */
const FIGURES: Readonly<Record<Section, readonly string[]>> = {
  "all-objects": ["objects", "ratio", "firstMs", "longestOwnBlockMs"],
  "rest-list": ["perSecond", "delayP99Ms", "longestOwnBlockMs"],
  "fan-out": ["p50Ms", "p99Ms", "notificationsPerChange"],
  messages: ["perSecond", "bytesPerSecond", "serverCpuUs"],
  rights: ["seenShare", "added", "ratioPerByte"],
  "idle-sockets": ["bytesPerClient"],
};

/**
 * Requirement of a smoke run in CI: every row has every figure. Times are not
 * compared.
 * @throws Error naming the incomplete rows
 */
export function checkShape({ results }: Report): void {
  const wrong = results.flatMap((result) => {
    const missing = FIGURES[result.place as Section].filter(
      (name) => !Number.isFinite(figureOf(result, name)),
    );
    return missing.length === 0
      ? []
      : [
          `${result.place} ${result.mode}: ${result.failure ?? `no ${missing.join(", ")}`}`,
        ];
  });
  if (wrong.length > 0)
    throw new Error(`rows without figures:\n${wrong.join("\n")}`);
}
