export { InvalidModel } from "./model/invalid-model.js";
export type * from "./model/balance.js";
export type { Change } from "./model/change.js";
export type { Limits, Order } from "./model/limits.js";
export type * from "./model/plan.js";
export type * from "./model/pool-model.js";
export type * from "./model/rolling.js";
export type * from "./model/refusal.js";
export type * from "./model/survival.js";
export type * from "./model/what-if.js";
export { agilityOf } from "./plans/agility.js";
export { explainAction } from "./plans/explain-action.js";
export { updatePlan } from "./plans/update-plan.js";
export { placeVm } from "./plans/place-vm.js";
export { whatIf, type WhatIfOptions } from "./plans/what-if.js";
export type { PlanOptions } from "./plans/options.js";
export type { Planned } from "./plans/planned.js";
export { planBalance } from "./plans/plan-balance.js";
export { planEvacuation } from "./plans/plan-evacuation.js";
export { planFailover } from "./plans/plan-failover.js";
export { planRepair } from "./plans/plan-repair.js";
export { planRolling } from "./rolling/plan-rolling.js";
export { planStarts, type StartOptions } from "./plans/plan-starts.js";
export {
  survivedFailures,
  type SurvivalOptions,
} from "./plans/survived-failures.js";
export {
  changePool,
  indexPool,
  type IndexedPool,
} from "./pool/indexed-pool.js";
