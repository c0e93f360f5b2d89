import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import { storageMethods } from "./storage.js";
import { tagMethods } from "./tag.js";
import { vmMethods } from "./vm.js";
import type { VmCreateOptions } from "./vm-create.js";

/** What is done to objects of pools. */
export function objectMethods(
  objects: PoolObjects,
  options?: VmCreateOptions,
): Operation[] {
  return [
    ...storageMethods(objects),
    ...tagMethods(objects),
    ...vmMethods(objects, options),
  ];
}
