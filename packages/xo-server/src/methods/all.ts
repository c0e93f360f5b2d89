import type { Operation } from "../operations/operation.js";
import type { Services } from "./services.js";
import { systemOperations } from "./system.js";
import { vmPowerOperations } from "./vm-power.js";

/** Every operation of the server. */
export const operations: readonly Operation<Services>[] = [
  ...systemOperations,
  ...vmPowerOperations,
];
