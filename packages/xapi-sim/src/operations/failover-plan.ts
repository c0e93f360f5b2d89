import type { Database } from "../database.js";
import { flag, int, refs, text } from "./fields.js";
import { groupMembersOn, isLive } from "./host-choice.js";
import { freeMemory, memoryNeeded } from "./host-memory.js";
import { assertSeesResources } from "./vm-checks.js";
import { XapiFailure } from "../xapi-failure.js";

/** VMs of a host that HA starts again elsewhere. */
export function protectedOn(db: Database, host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter((vm) => {
    const record = db.get("VM", vm);
    return (
      text(record, "ha_restart_priority") === "restart" &&
      !flag(record, "is_control_domain")
    );
  });
}

/**
 * Where VMs of failed hosts would start again (`vms`; absent: the protected ones that
 * run there): the largest first, each on a surviving host that sees its disks and
 * networks and has fewest of its anti-affinity group, then most memory left.
 * @returns undefined where one finds no place
 */
export function failoverPlan(
  db: Database,
  failed: readonly string[],
  vms = failed.flatMap((host) => protectedOn(db, host)),
): ReadonlyMap<string, string> | undefined {
  const left = new Map(
    liveHosts(db)
      .filter((host) => !failed.includes(host))
      .map((host) => [host, freeMemory(db, host)]),
  );
  const sized = vms
    .map((vm) => ({ vm, bytes: memoryNeeded(db.get("VM", vm)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const plan = new Map<string, string>();
  for (const { vm, bytes } of sized) {
    const [best] = [...left]
      .filter(([ref, free]) => free >= bytes && sees(db, vm, ref))
      .map(([host, free]) => ({
        host,
        free,
        members: groupMembersOn(db, vm, host, plan),
      }))
      .sort((a, b) => a.members - b.members || b.free - a.free);
    if (best === undefined) return undefined;
    left.set(best.host, best.free - bytes);
    plan.set(vm, best.host);
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
  return [...db.refs("host")].filter(
    (host) => isLive(db, host) && flag(db.get("host", host), "enabled"),
  );
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
