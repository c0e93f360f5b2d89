import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import type { ResourceSets } from "../vms/resource-sets.js";
import { storageMethods } from "./storage.js";
import { tagMethods } from "./tag.js";
import { vmMethods } from "./vm.js";

/** What is done to objects of pools. */
export function objectMethods(
  objects: PoolObjects,
  sets?: ResourceSets,
): Operation[] {
  return [
    ...storageMethods(objects),
    ...tagMethods(objects),
    ...vmMethods(objects, sets),
  ];
}
