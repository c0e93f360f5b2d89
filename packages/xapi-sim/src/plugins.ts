import type { HttpHandler } from "./http-handler.js";
import type { OperationTable } from "./operation.js";

/** The effects of messages that the datamodel does not imply. */
export const operations: OperationTable = {};

/** What is served beside RPC. */
export const httpHandlers: readonly HttpHandler[] = [];
