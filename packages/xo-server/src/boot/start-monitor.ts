import { createLoopMonitor, type LoopMonitor } from "@xo-server/perf";
import type { ServerOptions } from "./server-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/** The detector of event-loop blocks. */
export function startMonitor(
  { config, loggers }: Pick<ServerOptions, "config" | "loggers">,
  stops: StopStack,
): LoopMonitor {
  const monitor = createLoopMonitor({
    ...config.perf,
    logger: loggers.named("xo:perf"),
  });
  monitor.start();
  stops.push("perf", () => {
    monitor.stop();
  });
  return monitor;
}
