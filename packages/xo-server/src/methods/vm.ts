import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import { vmCopyMethods } from "./vm-copies.js";
import { vmCreateMethods, type VmCreateOptions } from "./vm-create.js";
import { vmDataSourceMethods } from "./vm-data-sources.js";
import { vmDeleteMethods } from "./vm-delete.js";
import { vmDeviceMethods } from "./vm-devices.js";
import { vmHardwareMethods } from "./vm-hardware.js";
import { vmMigrateMethods } from "./vm-migrate.js";
import { vmSettingMethods } from "./vm-settings.js";
import { vmSnapshotMethods } from "./vm-snapshots.js";

/** All that is done to VMs. */
export function vmMethods(
  objects: PoolObjects,
  options: VmCreateOptions = {},
): Operation[] {
  return [
    ...vmSettingMethods(objects),
    ...vmCreateMethods(objects, options),
    ...vmDeleteMethods(objects),
    ...vmCopyMethods(objects),
    ...vmSnapshotMethods(objects),
    ...vmMigrateMethods(objects),
    ...vmDeviceMethods(objects),
    ...vmHardwareMethods(objects),
    ...vmDataSourceMethods(objects),
  ];
}
