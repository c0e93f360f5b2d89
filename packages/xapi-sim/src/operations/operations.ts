import type { OperationTable } from "../operation.js";
import { blockedOperations } from "./effects/blocked-operations.js";
import { bondOperations } from "./network/bond.js";
import { forgottenDiskOperations } from "./storage/forgotten-disks.js";
import { haOperations } from "./ha/ha.js";
import { hostOperationTable } from "./host/host.js";
import { hostFailureOperations } from "./host/host-failure.js";
import { dataSourceOperations } from "./vm/data-source-operations.js";
import { networkOperations } from "./network/network.js";
import { vmApplianceOperations } from "./vm/vm-appliances.js";
import { blobOperations } from "./pool/blobs.js";
import { secretOperations } from "./pool/secrets.js";
import { hostDeviceOperations } from "./host/host-devices.js";
import { pifOperations } from "./network/pif.js";
import { poolOperationTable } from "./pool/pool.js";
import { srOperationTable } from "./storage/sr.js";
import { srProbeOperations } from "./storage/sr-probe.js";
import { vbdOperationTable } from "./storage/vbd.js";
import { cbtOperations } from "./storage/cbt.js";
import { vdiOperationTable } from "./storage/vdi.js";
import { vifOperationTable } from "./network/vif.js";
import { certificateOperations } from "./pool/certificates.js";
import { externalAuthOperations } from "./pool/external-auth.js";
import { poolServiceOperations } from "./pool/pool-services.js";
import { roleOperations } from "./pool/roles.js";
import { snapshotScheduleOperations } from "./vm/snapshot-schedules.js";
import { updateOperations } from "./host/updates.js";
import { poolUpdateOperations } from "./host/pool-updates.js";
import { syncedUpdateOperations } from "./host/synced-updates.js";
import { vmDeviceOperations } from "./vm/vm-devices.js";
import { vmPluginOperations } from "./vm/vm-plugins.js";
import { vmCopyOperations } from "./vm/vm-copies.js";
import { vmFieldOperations } from "./vm/vm-fields.js";
import { vmMigrateOperations } from "./vm/vm-migrate.js";
import { vmPowerOperations } from "./vm/vm-power.js";
import { vmProvisionOperations } from "./vm/vm-provision.js";
import { vmResourceOperations } from "./vm/vm-resources.js";
import { vtpmOperations } from "./vm/vtpms.js";

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
  ...vmApplianceOperations,
  ...blobOperations,
  ...secretOperations,
  ...hostDeviceOperations,
};
