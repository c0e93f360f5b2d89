import type { Json } from "@xo-server/kit";
import type { Goal } from "./recommendation.js";

/** The operation and parameters that plan for a goal. */
export function planQuestion(
  pool: string,
  goal: Goal,
  hosts: readonly string[],
): { readonly method: string; readonly params: Record<string, Json> } {
  return goal === "evacuate"
    ? { method: "placement.planEvacuation", params: { hosts: [...hosts] } }
    : { method: "placement.recommend", params: { pool, goal } };
}
