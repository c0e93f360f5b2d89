import type { Operation } from "../operations/operation.js";
import { accountListOperations } from "./auth/account-list.js";
import { aclOperations } from "./auth/acl.js";
import { firstRunOperations } from "./auth/first-run.js";
import { groupOperations } from "./auth/group.js";
import { privilegeOperations } from "./auth/privilege.js";
import { resourceSetOperations } from "./auth/resource-set.js";
import { roleOperations } from "./auth/role.js";
import { sessionTicketOperations } from "./auth/session-ticket.js";
import { sessionTokenOperations } from "./auth/session-token.js";
import { sessionOperations } from "./auth/session.js";
import { signInProviderOperations } from "./auth/sign-in-provider.js";
import { tokenOperations } from "./auth/token.js";
import { totpOperations } from "./auth/totp.js";
import { userOperations } from "./auth/user.js";
import { backupArchiveOperations } from "./backup/backup-archive.js";
import { backupDownloadOperations } from "./backup/backup-download.js";
import { backupFilesContractOperations } from "./backup/backup-files-contract.js";
import { backupFilesOperations } from "./backup/backup-files.js";
import { backupJobOperations } from "./backup/backup-jobs.js";
import { backupLogOperations } from "./backup/backup-logs.js";
import { backupMaintenanceOperations } from "./backup/backup-maintenance.js";
import { backupPassphraseOperations } from "./backup/backup-passphrase.js";
import { backupRepositoryOperations } from "./backup/backup-repository.js";
import { backupRestoreDiskOperations } from "./backup/backup-restore-disk.js";
import { backupRestoreTestOperations } from "./backup/backup-restore-test.js";
import { backupRestoreOperations } from "./backup/backup-restore.js";
import { backupOperations } from "./backup/backup.js";
import { metadataBackupOperations } from "./backup/metadata-backup.js";
import { metadataJobOperations } from "./backup/metadata-jobs.js";
import { mirrorJobOperations } from "./backup/mirror-jobs.js";
import { restoreLogOperations } from "./backup/restore-log.js";
import { hostFilesOperations } from "./host/host-files.js";
import { hostHealthOperations } from "./host/host-health.js";
import { hostPowerOperations } from "./host/host-power.js";
import { hostOperations } from "./host/host.js";
import { patchInstallOperations } from "./host/patch-install.js";
import { patchListOperations } from "./host/patch-list.js";
import { jobOperations } from "./jobs/job.js";
import { scheduleOperations } from "./jobs/schedule.js";
import { taskListOperations } from "./jobs/task-list.js";
import { taskOperations } from "./jobs/task.js";
import { activityOperations } from "./monitoring/activity.js";
import { alarmRuleOperations } from "./monitoring/alarm-rule.js";
import { alarmOperations } from "./monitoring/alarm.js";
import { auditOperations } from "./monitoring/audit.js";
import { dashboardOperations } from "./monitoring/dashboard.js";
import { healthOperations } from "./monitoring/health.js";
import { messageOperations } from "./monitoring/message.js";
import { statsOperations } from "./monitoring/stats.js";
import { ipPoolOperations } from "./network/ip-pool.js";
import { networkOperations } from "./network/network.js";
import { pifOperations } from "./network/pif.js";
import { trafficRuleOperations } from "./network/traffic-rule.js";
import { vifOperations } from "./network/vif.js";
import { allowedOperationsOperations } from "./objects/allowed-operations.js";
import { bulkOperations } from "./objects/bulk.js";
import { customFieldOperations } from "./objects/custom-field.js";
import { folderOperations } from "./objects/folder.js";
import { queryOperations } from "./objects/query.js";
import { rawRecordOperations } from "./objects/raw-record.js";
import { tagColorOperations, tagOperations } from "./objects/tag.js";
import { balancerOperations } from "./placement/balancer.js";
import { placementRuleOperations } from "./placement/placement-rule.js";
import { placementOperations } from "./placement/placement.js";
import { poolHaOperations } from "./pool/pool-ha.js";
import { poolMembersOperations } from "./pool/pool-members.js";
import { poolPowerOperations } from "./pool/pool-power.js";
import { poolRollingOperations } from "./pool/pool-rolling.js";
import { poolSettingsOperations } from "./pool/pool-settings.js";
import { poolVerifyOperations } from "./pool/pool-verify.js";
import { poolOperations } from "./pool/pool.js";
import { serverProbeOperations } from "./pool/server-probe.js";
import { serverOperations } from "./pool/server.js";
import { diskTransferOperations } from "./storage/disk-transfer.js";
import { diskOperations } from "./storage/disk.js";
import { pbdOperations } from "./storage/pbd.js";
import { srCreateOperations } from "./storage/sr-create.js";
import { srMaintenanceOperations } from "./storage/sr-maintenance.js";
import { srProbeOperations } from "./storage/sr-probe.js";
import { srOperations } from "./storage/sr.js";
import { vbdOperations } from "./storage/vbd.js";
import { vdiOperations } from "./storage/vdi.js";
import { clusterOperations } from "./system/cluster.js";
import { configurationOperations } from "./system/configuration.js";
import { diagnosticsOperations } from "./system/diagnostics.js";
import { pluginOperations } from "./system/plugin.js";
import { statusOperations } from "./system/status.js";
import { systemOperations } from "./system/system.js";
import { xoOperations } from "./system/xo.js";
import { cloudConfigOperations } from "./vm/cloud-config.js";
import { esxiOperations } from "./vm/esxi.js";
import { pciOperations } from "./vm/pci.js";
import { usbOperations } from "./vm/usb.js";
import { vmCopiesOperations } from "./vm/vm-copies.js";
import { vmCreateOperations } from "./vm/vm-create.js";
import { vmDataSourcesOperations } from "./vm/vm-data-sources.js";
import { vmDeleteOperations } from "./vm/vm-delete.js";
import { vmDevicesOperations } from "./vm/vm-devices.js";
import { vmHardwareOperations } from "./vm/vm-hardware.js";
import { vmImportEsxiOperations } from "./vm/vm-import-esxi.js";
import { vmImportOperations } from "./vm/vm-import.js";
import { vmMigrateOperations } from "./vm/vm-migrate.js";
import { vmPowerOperations } from "./vm/vm-power.js";
import { vmSettingsOperations } from "./vm/vm-settings.js";
import { vmSnapshotsOperations } from "./vm/vm-snapshots.js";
import { vmTransferOperations } from "./vm/vm-transfer.js";
import { vtpmOperations } from "./vm/vtpm.js";
import type { Services } from "./definition/services.js";

/** Every operation of the server, in the order of its files. */
export const operations: readonly Operation<Services>[] = [
  ...accountListOperations,
  ...aclOperations,
  ...firstRunOperations,
  ...groupOperations,
  ...privilegeOperations,
  ...resourceSetOperations,
  ...roleOperations,
  ...sessionTicketOperations,
  ...sessionTokenOperations,
  ...sessionOperations,
  ...signInProviderOperations,
  ...tokenOperations,
  ...totpOperations,
  ...userOperations,
  ...backupArchiveOperations,
  ...backupDownloadOperations,
  ...backupFilesOperations,
  ...backupFilesContractOperations,
  ...backupJobOperations,
  ...backupLogOperations,
  ...backupMaintenanceOperations,
  ...backupPassphraseOperations,
  ...backupRepositoryOperations,
  ...backupRestoreDiskOperations,
  ...backupRestoreTestOperations,
  ...backupRestoreOperations,
  ...backupOperations,
  ...metadataBackupOperations,
  ...metadataJobOperations,
  ...mirrorJobOperations,
  ...restoreLogOperations,
  ...hostFilesOperations,
  ...hostHealthOperations,
  ...hostPowerOperations,
  ...hostOperations,
  ...patchInstallOperations,
  ...patchListOperations,
  ...jobOperations,
  ...scheduleOperations,
  ...taskListOperations,
  ...taskOperations,
  ...activityOperations,
  ...alarmRuleOperations,
  ...alarmOperations,
  ...auditOperations,
  ...dashboardOperations,
  ...healthOperations,
  ...messageOperations,
  ...statsOperations,
  ...ipPoolOperations,
  ...networkOperations,
  ...pifOperations,
  ...trafficRuleOperations,
  ...vifOperations,
  ...allowedOperationsOperations,
  ...bulkOperations,
  ...customFieldOperations,
  ...folderOperations,
  ...queryOperations,
  ...rawRecordOperations,
  ...tagColorOperations,
  ...tagOperations,
  ...balancerOperations,
  ...placementRuleOperations,
  ...placementOperations,
  ...poolHaOperations,
  ...poolMembersOperations,
  ...poolPowerOperations,
  ...poolRollingOperations,
  ...poolSettingsOperations,
  ...poolVerifyOperations,
  ...poolOperations,
  ...serverProbeOperations,
  ...serverOperations,
  ...diskTransferOperations,
  ...diskOperations,
  ...pbdOperations,
  ...srCreateOperations,
  ...srMaintenanceOperations,
  ...srProbeOperations,
  ...srOperations,
  ...vbdOperations,
  ...vdiOperations,
  ...clusterOperations,
  ...configurationOperations,
  ...diagnosticsOperations,
  ...pluginOperations,
  ...statusOperations,
  ...systemOperations,
  ...xoOperations,
  ...cloudConfigOperations,
  ...esxiOperations,
  ...pciOperations,
  ...usbOperations,
  ...vmCopiesOperations,
  ...vmCreateOperations,
  ...vmDataSourcesOperations,
  ...vmDeleteOperations,
  ...vmDevicesOperations,
  ...vmHardwareOperations,
  ...vmImportEsxiOperations,
  ...vmImportOperations,
  ...vmMigrateOperations,
  ...vmPowerOperations,
  ...vmSettingsOperations,
  ...vmSnapshotsOperations,
  ...vmTransferOperations,
  ...vtpmOperations,
];
