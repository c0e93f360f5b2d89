import type { HttpHandler } from "./http-handler.js";
import { consoleHandlers } from "./console/console-handlers.js";
import { joinHandlers } from "./peers/join-handler.js";
import { migrationHandlers } from "./peers/migration-handler.js";
import { rrdHandlers } from "./rrd/rrd-handlers.js";
import { transferHandlers } from "./transfer/transfer-handlers.js";

/** The effects of messages that the datamodel does not imply. */
export { operations } from "./operations/operations.js";

/** What is served beside RPC. */
export const httpHandlers: readonly HttpHandler[] = [
  ...rrdHandlers,
  ...consoleHandlers,
  ...transferHandlers,
  ...migrationHandlers,
  ...joinHandlers,
];
