export { main, type Introductions } from "./main.js";
export { startServer, type Server, type ServerOptions } from "./server.js";
export {
  loadConfig,
  type ConfigOverrides,
  type LoadedConfig,
} from "./load-config.js";
export type { Config } from "./config.js";
export { toExampleConfig } from "./example-config.js";
export type { Demo, DemoPool, StartDemoPools } from "./demo.js";
export { ExitCode } from "./exit-code.js";
export { createLoggers, type Loggers } from "./logger.js";
export type { CreatePool, LivePool } from "./pools.js";
export type { PoolSettings } from "./pool-settings.js";
export type { PoolState, PoolStatus, ServerStatus, Status } from "./status.js";
