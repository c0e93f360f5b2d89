import { first } from "./001-first.js";
import { setsAndPlugins } from "./002-sets-and-plugins.js";
import { schedules } from "./003-schedules.js";
import { alarms } from "./004-alarms.js";
import { taskSteps } from "./005-task-steps.js";
import { placementRules } from "./006-placement-rules.js";
import { balancer } from "./007-balancer.js";
import { auditPending } from "./008-audit-pending.js";
import { backupRepositories } from "./009-backup-repositories.js";
import { restorePictures } from "./010-restore-pictures.js";
import { auditForwards } from "./011-audit-forwards.js";
import { cluster } from "./012-cluster.js";
import { oneTimeSecrets } from "./013-one-time-secrets.js";
import { leasesReplaceHeartbeats } from "./014-leases-replace-heartbeats.js";
import { leavingServers } from "./015-leaving-servers.js";
import { signInAttempts } from "./016-sign-in-attempts.js";
import { tokenSessions } from "./017-token-sessions.js";
import { reservations } from "./018-reservations.js";
import { alarmRuleNames } from "./019-alarm-rule-names.js";
import { balancingNames } from "./020-balancing-names.js";
import { serverAddresses } from "./021-server-addresses.js";
import type { SchemaMigration } from "./schema-migration.js";

/** All migrations in order. A released migration is never changed. */
export const migrations: Readonly<Record<string, SchemaMigration>> = {
  "001-first": first,
  "002-sets-and-plugins": setsAndPlugins,
  "003-schedules": schedules,
  "004-alarms": alarms,
  "005-task-steps": taskSteps,
  "006-placement-rules": placementRules,
  "007-balancer": balancer,
  "008-audit-pending": auditPending,
  "009-backup-repositories": backupRepositories,
  "010-restore-pictures": restorePictures,
  "011-audit-forwards": auditForwards,
  "012-cluster": cluster,
  "013-one-time-secrets": oneTimeSecrets,
  "014-leases-replace-heartbeats": leasesReplaceHeartbeats,
  "015-leaving-servers": leavingServers,
  "016-sign-in-attempts": signInAttempts,
  "017-token-sessions": tokenSessions,
  "018-reservations": reservations,
  "019-alarm-rule-names": alarmRuleNames,
  "020-balancing-names": balancingNames,
  "021-server-addresses": serverAddresses,
};
