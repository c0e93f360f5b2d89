export { main, type MainOptions } from "./main.js";
export { startServer, type Server } from "./boot/start-server.js";
export type { ServerOptions } from "./boot/server-options.js";
export {
  loadConfig,
  type ConfigOverrides,
  type LoadedConfig,
} from "./config/load-config.js";
export { Leases } from "./cluster/leases.js";
export type { Config } from "./config/config.js";
export { toExampleConfig } from "./config/example-config.js";
export type { Demo, DemoPool, StartDemoPools } from "./pools/demo.js";
export { ExitCode } from "./lifecycle/exit-code.js";
export { createLoggers, type Loggers } from "./log/logger.js";
export type { CreatePool, LivePool } from "./pools/pools.js";
export type { PoolSettings } from "./pools/pool-settings.js";
export { AnswerMemory } from "./stats/answer-memory.js";
export { HostStats } from "./stats/host-stats.js";
export type {
  PoolState,
  PoolStatus,
  ServerStatus,
  Status,
} from "./status/status.js";
export { operations } from "./methods/all.js";
export { actions as privilegeActions } from "./rights/actions.js";
