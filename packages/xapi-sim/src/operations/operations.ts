import type { OperationTable } from "../operation.js";
import { blockedOperations } from "./blocked-operations.js";
import { bondOperations } from "./bond.js";
import { forgottenDiskOperations } from "./forgotten-disks.js";
import { haOperations } from "./ha.js";
import { hostOperationTable } from "./host.js";
import { hostFailureOperations } from "./host-failure.js";
import { dataSourceOperations } from "./data-source-operations.js";
import { networkOperations } from "./network.js";
import { otherOperations } from "./others.js";
import { pifOperations } from "./pif.js";
import { poolOperationTable } from "./pool.js";
import { srOperationTable } from "./sr.js";
import { srProbeOperations } from "./sr-probe.js";
import { vbdOperationTable } from "./vbd.js";
import { cbtOperations } from "./cbt.js";
import { vdiOperationTable } from "./vdi.js";
import { vifOperationTable } from "./vif.js";
import { certificateOperations } from "./certificates.js";
import { externalAuthOperations } from "./external-auth.js";
import { poolServiceOperations } from "./pool-services.js";
import { roleOperations } from "./roles.js";
import { snapshotScheduleOperations } from "./snapshot-schedules.js";
import { updateOperations } from "./updates.js";
import { poolUpdateOperations } from "./pool-updates.js";
import { syncedUpdateOperations } from "./synced-updates.js";
import { vmDeviceOperations } from "./vm-devices.js";
import { vmPluginOperations } from "./vm-plugins.js";
import { vmCopyOperations } from "./vm-copies.js";
import { vmFieldOperations } from "./vm-fields.js";
import { vmMigrateOperations } from "./vm-migrate.js";
import { vmPowerOperations } from "./vm-power.js";
import { vmProvisionOperations } from "./vm-provision.js";
import { vmResourceOperations } from "./vm-resources.js";
import { vtpmOperations } from "./vtpms.js";

/** Everything that a simulated pool can do beyond reading and writing fields. */
export const operations: OperationTable = {
  ...vmPowerOperations,
  ...vmCopyOperations,
  ...vmProvisionOperations,
  ...vmMigrateOperations,
  ...vmResourceOperations,
  ...vmFieldOperations,
  ...blockedOperations,
  ...vtpmOperations,
  ...vbdOperationTable,
  ...vifOperationTable,
  ...vdiOperationTable,
  ...cbtOperations,
  ...forgottenDiskOperations,
  ...srOperationTable,
  ...srProbeOperations,
  ...hostOperationTable,
  ...hostFailureOperations,
  ...dataSourceOperations,
  ...poolOperationTable,
  ...haOperations,
  ...networkOperations,
  ...pifOperations,
  ...bondOperations,
  ...certificateOperations,
  ...externalAuthOperations,
  ...poolServiceOperations,
  ...roleOperations,
  ...snapshotScheduleOperations,
  ...updateOperations,
  ...syncedUpdateOperations,
  ...poolUpdateOperations,
  ...vmDeviceOperations,
  ...vmPluginOperations,
  ...otherOperations,
};
