export {
  backgroundMonotonicClock,
  backgroundWallClock,
  monotonicClock,
  wallClock,
  type MonotonicClock,
  type Timers,
  type WallClock,
} from "./clock.js";
export { readHiddenLine, type TerminalInput } from "./hidden-line.js";
export { isObject, type Json, type JsonObject } from "./json.js";
export { silentLogger, type Logger } from "./logger.js";
export { applyMergePatch, createMergePatch } from "./merge-patch.js";
export { pause } from "./pause.js";
