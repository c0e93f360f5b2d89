export { startPool, type SimulatedPool } from "./simulated-pool.js";
export type { PoolOptions } from "./pool-options.js";
export { startFleet, type StampedFleetOptions } from "./stamped/start-fleet.js";
export { CHANGED_AT } from "./churn.js";
export type { FaultName, FaultSetting, Faults } from "./faults.js";
export type { Database } from "./database.js";
export type { Clock } from "./clock.js";
export { main } from "./main.js";
