import type { Operation } from "../operations/operation.js";
import {
  diskTransferMethods,
  type TransferMethodsOptions,
} from "./disk-transfer.js";
import { hostFileMethods } from "./host-files.js";
import { vmTransferMethods } from "./vm-transfer.js";

/** What is carried in and out of pools. */
export function transferMethods(options: TransferMethodsOptions): Operation[] {
  return [
    ...diskTransferMethods(options),
    ...vmTransferMethods(options),
    ...hostFileMethods(options),
  ];
}
