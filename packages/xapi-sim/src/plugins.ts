import type { OperationTable } from "./operation.js";
import { operations as poolOperations } from "./operations/operations.js";
import type { CoreTable } from "./calls/core.js";
import { nbdMessages } from "./nbd/nbd-messages.js";
import { joinMessages } from "./peers/join-pool.js";
import { vmMigrateSendOperations } from "./peers/vm-migrate-send.js";
import type { HttpHandler } from "./http-handler.js";
import { consoleHandlers } from "./console/console-handlers.js";
import { joinHandlers } from "./peers/join-handler.js";
import { migrationHandlers } from "./peers/migration-handler.js";
import { rrdHandlers } from "./rrd/rrd-handlers.js";
import { transferHandlers } from "./transfer/transfer-handlers.js";

/** The effects of messages that the datamodel does not imply. */
export const operations: OperationTable = {
  ...poolOperations,
  ...vmMigrateSendOperations,
};

/** Those that need more of the pool than an operation has. */
export const coreMessages: CoreTable = { ...joinMessages, ...nbdMessages };

/** What is served beside RPC. */
export const httpHandlers: readonly HttpHandler[] = [
  ...rrdHandlers,
  ...consoleHandlers,
  ...transferHandlers,
  ...migrationHandlers,
  ...joinHandlers,
];
