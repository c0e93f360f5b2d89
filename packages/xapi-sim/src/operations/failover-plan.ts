import type { Database } from "../database.js";
import { flag, int, refIn, refs, text } from "./fields.js";
import { assertSeesResources, freeMemory, memoryNeeded } from "./vm-checks.js";
import { XapiFailure } from "../xapi-failure.js";

/** VMs that HA starts again elsewhere, by the host that they run on. */
function protectedOn(db: Database, host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter((vm) => {
    const record = db.get("VM", vm);
    return (
      text(record, "ha_restart_priority") === "restart" &&
      !flag(record, "is_control_domain")
    );
  });
}

/**
 * Where the protected VMs of failed hosts would start again: the largest first, each
 * on the surviving host with most memory left that sees its disks and networks.
 * @returns undefined where one finds no place
 */
export function failoverPlan(
  db: Database,
  failed: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const left = new Map(
    liveHosts(db)
      .filter((host) => !failed.includes(host))
      .map((host) => [host, freeMemory(db, host)]),
  );
  const vms = failed
    .flatMap((host) => protectedOn(db, host))
    .map((vm) => ({ vm, bytes: memoryNeeded(db.get("VM", vm)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const plan = new Map<string, string>();
  for (const { vm, bytes } of vms) {
    const [host] = [...left]
      .filter(([ref, free]) => free >= bytes && sees(db, vm, ref))
      .sort(([, a], [, b]) => b - a)
      .map(([ref]) => ref);
    if (host === undefined) return undefined;
    left.set(host, left.get(host)! - bytes);
    plan.set(vm, host);
  }
  return plan;
}

/** How many hosts may fail, whichever they are: those with most that is protected are the worst. */
export function mostFailures(db: Database): number {
  const load = (host: string) =>
    protectedOn(db, host).reduce(
      (sum, vm) => sum + memoryNeeded(db.get("VM", vm)),
      0,
    );
  const hosts = liveHosts(db)
    .map((host) => ({ host, bytes: load(host) }))
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ host }) => host);
  let failures = 0;
  while (
    failures < hosts.length - 1 &&
    failoverPlan(db, hosts.slice(0, failures + 1)) !== undefined
  )
    failures++;
  return failures;
}

/** @throws XapiFailure HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN where HA promises more than could be kept */
export function assertPlanHolds(db: Database): void {
  const [, pool] = [...db.records("pool")][0]!;
  if (!flag(pool, "ha_enabled") || flag(pool, "ha_allow_overcommit")) return;
  if (mostFailures(db) < int(pool, "ha_host_failures_to_tolerate"))
    throw new XapiFailure("HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN");
}

function liveHosts(db: Database): readonly string[] {
  return [...db.refs("host")].filter((host) => {
    const record = db.get("host", host);
    const metrics = refIn(record, "metrics");
    const live =
      metrics === undefined ||
      db.find("host_metrics", metrics)?.["live"] !== false;
    return live && flag(record, "enabled");
  });
}

function sees(db: Database, vm: string, host: string): boolean {
  try {
    assertSeesResources(db, vm, host);
    return true;
  } catch (error) {
    if (error instanceof XapiFailure) return false;
    throw error;
  }
}
