import type { HttpHandler } from "../http-handler.js";
import { databaseHandlers } from "./database-handlers.js";
import { exportHandlers } from "./export-handlers.js";
import { importHandlers } from "./import-handlers.js";
import { rawVdiHandlers } from "./raw-vdi-handlers.js";
import { reportHandlers } from "./report-handlers.js";
import { updatesHandler } from "./updates-handler.js";

/** Everything that is carried in or out of a pool as a stream. */
export const transferHandlers: readonly HttpHandler[] = [
  ...exportHandlers,
  ...importHandlers,
  ...rawVdiHandlers,
  ...databaseHandlers,
  ...reportHandlers,
  updatesHandler,
];
