export { afterPlan, checkPlan, type CheckOptions } from "./check-plan.js";
export {
  failuresSurvived,
  mustRestart,
  placeAll,
  setsOf,
  survives,
} from "./exact-solver.js";
export {
  medium,
  randomPool,
  shuffledPool,
  small,
  withHostsDown,
  withNothingRunning,
  withoutOwnLoad,
  type PoolShape,
} from "./random-pool.js";
export { SeededRandom } from "./seeded-random.js";
export { expectedOf, seeds } from "./seeds.js";
export { Standing } from "./standing.js";
export { changedModel, randomChange } from "./changed-model.js";
