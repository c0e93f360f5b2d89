export { startPool, type SimulatedPool } from "./simulated-pool.js";
export type { PoolOptions } from "./pool-options.js";
export { startFleet, type DerivedFleetOptions } from "./derived/start-fleet.js";
export { createDerivedPools } from "./derived/create-derived-pools.js";
export type { DerivedPool } from "./derived/derived-pool.js";
export { CHANGED_AT } from "./churn.js";
export type {
  FaultName,
  FaultSetting,
  Faults,
} from "./faults/transport-faults.js";
export type {
  InjectedError,
  InjectionConditions,
} from "./faults/injected-errors.js";
export type { WriteProgram } from "./guests/write-programs.js";
export type { FailureProfileName } from "./faults/failure-profile.js";
export type { Database } from "./database.js";
export { systemClock, type SimulatorClock } from "./clock.js";
export { main } from "./main.js";
