import type { Operation } from "../operations/operation.js";
import { aclOperations } from "./acl.js";
import { activityOperations } from "./activity.js";
import { alarmRuleOperations } from "./alarm-rule.js";
import { alarmOperations } from "./alarm.js";
import { allowedOperationsOperations } from "./allowed-operations.js";
import { auditOperations } from "./audit.js";
import { backupArchiveOperations } from "./backup-archive.js";
import { backupMaintenanceOperations } from "./backup-maintenance.js";
import { backupPassphraseOperations } from "./backup-passphrase.js";
import { backupRepositoryOperations } from "./backup-repository.js";
import { backupJobOperations } from "./backup-jobs.js";
import { backupLogOperations } from "./backup-logs.js";
import { backupDownloadOperations } from "./backup-download.js";
import { backupRestoreDiskOperations } from "./backup-restore-disk.js";
import { backupRestoreTestOperations } from "./backup-restore-test.js";
import { backupRestoreOperations } from "./backup-restore.js";
import { backupOperations } from "./backup.js";
import { balancerOperations } from "./balancer.js";
import { bulkOperations } from "./bulk.js";
import { cloudConfigOperations } from "./cloud-config.js";
import { clusterOperations } from "./cluster.js";
import { configurationOperations } from "./configuration.js";
import { customFieldOperations } from "./custom-field.js";
import { dashboardOperations } from "./dashboard.js";
import { diagnosticsOperations } from "./diagnostics.js";
import { diskTransferOperations } from "./disk-transfer.js";
import { diskOperations } from "./disk.js";
import { firstRunOperations } from "./first-run.js";
import { folderOperations } from "./folder.js";
import { trafficRuleOperations } from "./traffic-rule.js";
import { groupOperations } from "./group.js";
import { healthOperations } from "./health.js";
import { hostFilesOperations } from "./host-files.js";
import { hostHealthOperations } from "./host-health.js";
import { patchInstallOperations } from "./patch-install.js";
import { patchListOperations } from "./patch-list.js";
import { hostPowerOperations } from "./host-power.js";
import { hostOperations } from "./host.js";
import { ipPoolOperations } from "./ip-pool.js";
import { jobOperations } from "./job.js";
import { messageOperations } from "./message.js";
import { metadataBackupOperations } from "./metadata-backup.js";
import { metadataJobOperations } from "./metadata-jobs.js";
import { mirrorJobOperations } from "./mirror-jobs.js";
import { networkOperations } from "./network.js";
import { pbdOperations } from "./pbd.js";
import { pciOperations } from "./pci.js";
import { accountListOperations } from "./account-list.js";
import { pifOperations } from "./pif.js";
import { placementRuleOperations } from "./placement-rule.js";
import { placementOperations } from "./placement.js";
import { pluginOperations } from "./plugin.js";
import { poolHaOperations } from "./pool-ha.js";
import { poolMembersOperations } from "./pool-members.js";
import { poolPowerOperations } from "./pool-power.js";
import { poolRollingOperations } from "./pool-rolling.js";
import { poolVerifyOperations } from "./pool-verify.js";
import { poolSettingsOperations } from "./pool-settings.js";
import { poolOperations } from "./pool.js";
import { privilegeOperations } from "./privilege.js";
import { queryOperations } from "./query.js";
import { rawRecordOperations } from "./raw-record.js";
import { resourceSetOperations } from "./resource-set.js";
import { restoreLogOperations } from "./restore-log.js";
import { roleOperations } from "./role.js";
import { scheduleOperations } from "./schedule.js";
import { serverProbeOperations } from "./server-probe.js";
import { serverOperations } from "./server.js";
import { sessionTicketOperations } from "./session-ticket.js";
import { sessionTokenOperations } from "./session-token.js";
import { sessionOperations } from "./session.js";
import { signInProviderOperations } from "./sign-in-provider.js";
import { srMaintenanceOperations } from "./sr-maintenance.js";
import { srCreateOperations } from "./sr-create.js";
import { srProbeOperations } from "./sr-probe.js";
import { srOperations } from "./sr.js";
import { statsOperations } from "./stats.js";
import { statusOperations } from "./status.js";
import { systemOperations } from "./system.js";
import { tagColorOperations, tagOperations } from "./tag.js";
import { taskListOperations } from "./task-list.js";
import { taskOperations } from "./task.js";
import { tokenOperations } from "./token.js";
import { totpOperations } from "./totp.js";
import { usbOperations } from "./usb.js";
import { userOperations } from "./user.js";
import { vbdOperations } from "./vbd.js";
import { vdiOperations } from "./vdi.js";
import { vifOperations } from "./vif.js";
import { vmCopiesOperations } from "./vm-copies.js";
import { vmCreateOperations } from "./vm-create.js";
import { vmDataSourcesOperations } from "./vm-data-sources.js";
import { vmDeleteOperations } from "./vm-delete.js";
import { vmDevicesOperations } from "./vm-devices.js";
import { vmHardwareOperations } from "./vm-hardware.js";
import { vmMigrateOperations } from "./vm-migrate.js";
import { vmPowerOperations } from "./vm-power.js";
import { vmSettingsOperations } from "./vm-settings.js";
import { vmSnapshotsOperations } from "./vm-snapshots.js";
import { vmTransferOperations } from "./vm-transfer.js";
import { vmImportOperations } from "./vm-import.js";
import { esxiOperations } from "./esxi.js";
import { vmImportEsxiOperations } from "./vm-import-esxi.js";
import { vtpmOperations } from "./vtpm.js";
import { xoOperations } from "./xo.js";
import type { Services } from "./services.js";

/** Every operation of the server. */
export const operations: readonly Operation<Services>[] = [
  ...aclOperations,
  ...activityOperations,
  ...alarmRuleOperations,
  ...alarmOperations,
  ...allowedOperationsOperations,
  ...auditOperations,
  ...backupArchiveOperations,
  ...backupMaintenanceOperations,
  ...backupPassphraseOperations,
  ...backupRepositoryOperations,
  ...backupRestoreDiskOperations,
  ...backupDownloadOperations,
  ...backupRestoreTestOperations,
  ...backupRestoreOperations,
  ...backupOperations,
  ...backupJobOperations,
  ...backupLogOperations,
  ...metadataJobOperations,
  ...mirrorJobOperations,
  ...metadataBackupOperations,
  ...balancerOperations,
  ...bulkOperations,
  ...cloudConfigOperations,
  ...clusterOperations,
  ...configurationOperations,
  ...customFieldOperations,
  ...dashboardOperations,
  ...diagnosticsOperations,
  ...diskTransferOperations,
  ...diskOperations,
  ...firstRunOperations,
  ...folderOperations,
  ...trafficRuleOperations,
  ...groupOperations,
  ...healthOperations,
  ...hostFilesOperations,
  ...hostHealthOperations,
  ...patchListOperations,
  ...patchInstallOperations,
  ...hostPowerOperations,
  ...hostOperations,
  ...ipPoolOperations,
  ...jobOperations,
  ...messageOperations,
  ...networkOperations,
  ...pbdOperations,
  ...pciOperations,
  ...accountListOperations,
  ...pifOperations,
  ...placementRuleOperations,
  ...placementOperations,
  ...pluginOperations,
  ...poolHaOperations,
  ...poolMembersOperations,
  ...poolPowerOperations,
  ...poolRollingOperations,
  ...poolVerifyOperations,
  ...poolSettingsOperations,
  ...poolOperations,
  ...privilegeOperations,
  ...queryOperations,
  ...rawRecordOperations,
  ...resourceSetOperations,
  ...restoreLogOperations,
  ...roleOperations,
  ...scheduleOperations,
  ...serverProbeOperations,
  ...serverOperations,
  ...sessionTicketOperations,
  ...sessionTokenOperations,
  ...sessionOperations,
  ...signInProviderOperations,
  ...srMaintenanceOperations,
  ...srCreateOperations,
  ...srProbeOperations,
  ...srOperations,
  ...statsOperations,
  ...statusOperations,
  ...systemOperations,
  ...tagColorOperations,
  ...tagOperations,
  ...taskListOperations,
  ...taskOperations,
  ...tokenOperations,
  ...totpOperations,
  ...usbOperations,
  ...userOperations,
  ...vbdOperations,
  ...vdiOperations,
  ...vifOperations,
  ...vmCopiesOperations,
  ...vmCreateOperations,
  ...vmDataSourcesOperations,
  ...vmDeleteOperations,
  ...vmDevicesOperations,
  ...vmHardwareOperations,
  ...vmMigrateOperations,
  ...vmPowerOperations,
  ...vmSettingsOperations,
  ...vmSnapshotsOperations,
  ...vmTransferOperations,
  ...vmImportOperations,
  ...esxiOperations,
  ...vmImportEsxiOperations,
  ...vtpmOperations,
  ...xoOperations,
];
