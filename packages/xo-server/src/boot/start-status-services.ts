import type { Services } from "../methods/services.js";
import { startPerformance } from "../status/performance.js";
import { startStatus, startStatusFeed } from "../status/start-status.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

/** The status of the server and its pools. */
export function startStatusServices(
  { pools, monitor, clients, clock, parser }: Core,
  options: ServerOptions,
  stops: StopStack,
): Pick<Services, "readStatus" | "statusFeed" | "performance"> {
  const readStatus = startStatus({
    ...options,
    pools,
    monitor,
    clients,
    clock,
    stops,
    readParser: () => parser.readFigures(),
  });
  return {
    readStatus,
    statusFeed: startStatusFeed(readStatus, options, stops),
    performance: startPerformance({
      monitor,
      parser,
      readStatus,
      clock,
      stops,
    }),
  };
}
