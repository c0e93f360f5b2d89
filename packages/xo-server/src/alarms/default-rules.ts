import type { Store } from "@xo-server/store";
import { toRuleBody } from "./parse-rule.js";
import type { Condition, Severity } from "./alarm-rule.js";
import { SERVER_TYPE } from "./server-metrics.js";

/**
 * Key of a setting that is written once, so that rules that an administrator has
 * deleted are not created again.
 */
const CREATED = "alarms/default-rules";

interface DefaultRule {
  readonly name: string;
  readonly severity: Severity;
  readonly forSeconds?: number;
  readonly on: Condition;
}

const statistic = (
  type: string,
  metric: string,
  more: Omit<
    Extract<Condition, { kind: "statistic" }>,
    "kind" | "type" | "metric" | "comparison"
  >,
): Condition => ({ kind: "statistic", type, metric, comparison: ">", ...more });

/** XAPI messages about failures that no other default rule covers. */
const STORAGE_MESSAGES =
  "name:/^(MULTIPATH_PERIODIC_ALERT|PBD_PLUG_FAILED_ON_SERVER_START)$/";

const defaultRules: readonly DefaultRule[] = [
  {
    name: "Pool disconnected",
    severity: "critical",
    forSeconds: 60,
    on: { kind: "pool" },
  },
  {
    name: "Host down",
    severity: "critical",
    forSeconds: 60,
    on: { kind: "object", type: "host", filter: "!power_state:/^Running$/" },
  },
  {
    name: "Host CPU overloaded",
    severity: "warning",
    forSeconds: 600,
    on: statistic("host", "now.cpu", { threshold: 0.95, clearsAt: 0.85 }),
  },
  {
    name: "Storage nearly full",
    severity: "warning",
    forSeconds: 300,
    on: statistic("SR", "physical_usage", {
      of: "size",
      // SRs of ISO images and of drives of hosts are always full.
      filter: "!content_type:/^iso$/ !SR_type:/^(udev|iso)$/ size:>0",
      threshold: 0.9,
      clearsAt: 0.85,
    }),
  },
  {
    name: "Storage failure",
    severity: "critical",
    on: { kind: "message", filter: STORAGE_MESSAGES },
  },
  {
    name: "High availability",
    severity: "critical",
    on: { kind: "message", filter: "name:/^HA_/" },
  },
  {
    name: "Certificate of a host expires",
    severity: "warning",
    on: { kind: "message", filter: "name:/_CERTIFICATE_EXPIR/" },
  },
  {
    name: "Updates available",
    severity: "info",
    on: statistic(SERVER_TYPE, "updates.hosts", { threshold: 0, clearsAt: 0 }),
  },
  {
    name: "Hosts of a pool run different versions",
    severity: "warning",
    // Longer than the update of a pool takes.
    forSeconds: 86_400,
    on: statistic(SERVER_TYPE, "versions.pools", {
      threshold: 0,
      clearsAt: 0,
    }),
  },
  {
    name: "Backup failed",
    severity: "critical",
    on: statistic(SERVER_TYPE, "backup.failed", { threshold: 0, clearsAt: 0 }),
  },
  {
    name: "Backup: changed block tracking was wrong",
    severity: "critical",
    on: statistic(SERVER_TYPE, "backup.mismatches", {
      threshold: 0,
      clearsAt: 0,
    }),
  },
  {
    name: "VMs without backup",
    severity: "warning",
    forSeconds: 3_600,
    on: statistic(SERVER_TYPE, "backup.unprotected", {
      threshold: 0,
      clearsAt: 0,
    }),
  },
  {
    name: "Last backup too old",
    severity: "warning",
    on: statistic(SERVER_TYPE, "backup.days", { threshold: 8, clearsAt: 8 }),
  },
  {
    name: "Backup repository damaged",
    severity: "critical",
    on: statistic(SERVER_TYPE, "backup.damaged", {
      threshold: 0,
      clearsAt: 0,
    }),
  },
  {
    name: "Backup repository unreachable",
    severity: "warning",
    forSeconds: 900,
    on: statistic(SERVER_TYPE, "backup.unreachable", {
      threshold: 0,
      clearsAt: 0,
    }),
  },
  {
    name: "Server lost",
    severity: "critical",
    // All heartbeats stop while the database fails over.
    forSeconds: 20,
    on: statistic(SERVER_TYPE, "servers.lost", { threshold: 0, clearsAt: 0 }),
  },
  {
    name: "Server: disk nearly full",
    severity: "critical",
    forSeconds: 60,
    on: statistic(SERVER_TYPE, "disk.usage", {
      threshold: 0.9,
      clearsAt: 0.85,
    }),
  },
  {
    name: "Server: memory nearly used up",
    severity: "warning",
    forSeconds: 300,
    on: statistic(SERVER_TYPE, "memory.usage", {
      threshold: 0.95,
      clearsAt: 0.9,
    }),
  },
  {
    name: "Server: TLS certificate expires",
    severity: "warning",
    on: {
      ...statistic(SERVER_TYPE, "certificate.days", {
        threshold: 14,
        clearsAt: 15,
      }),
      comparison: "<",
    } as Condition,
  },
];

/**
 * Creates the default alarm rules of a new server, without targets. Does nothing if
 * the server has rules.
 * @throws XoError STORE_UNAVAILABLE
 */
export async function createDefaultRules({
  settings,
  alarmRules,
}: Pick<Store, "settings" | "alarmRules">): Promise<void> {
  if (settings.get(CREATED) !== undefined) return;
  const isNew = alarmRules.size === 0;
  if (!(await settings.add(CREATED, true)) || !isNew) return;
  // At the same time, so that they share a transaction.
  await Promise.all(
    defaultRules.map(({ name, ...rule }) =>
      alarmRules.create({ name, body: toRuleBody(rule), secret: {} }),
    ),
  );
}
