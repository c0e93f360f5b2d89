import type { CallContext, OperationTable } from "../../operation.js";
import type { PoolData } from "../../pool-state.js";
import { XapiFailure } from "../../xapi-failure.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { map, refs, text, textIn, textParam } from "../../records/fields.js";
import { bestHost, isLive } from "../capacity/host-choice.js";
import { whileExpected } from "../capacity/host-memory.js";
import { createVmMessage } from "../effects/messages.js";
import {
  assertCanBootHere,
  assertSeesResources,
  assertStillRuns,
  assertVmMay,
  possibleHosts,
} from "./vm-checks.js";
import { moveDomain } from "./vm-domain.js";
import { hostTitle } from "./vm-power.js";

export const vmMigrateOperations: OperationTable = {
  "VM.pool_migrate": (context, params) =>
    migrate(context, textParam(params, 0), textParam(params, 1)),
  "VM.get_possible_hosts": (context, params) => {
    context.db.get("VM", textParam(params, 0));
    return possibleHosts(context, textParam(params, 0));
  },
  "VM.assert_can_boot_here": (context, params) => {
    const { db } = context;
    const [vm, host] = [textParam(params, 0), textParam(params, 1)];
    db.get("VM", vm);
    if (db.find("host", host) === undefined)
      throw new XapiFailure("HOST_NOT_LIVE");
    assertCanBootHere(context, vm, host);
  },
  "VM.retrieve_wlb_recommendations": () => ({}),
  "host.get_vms_which_prevent_evacuation": (context, params) => {
    return Object.fromEntries(obstaclesOn(context, textParam(params, 0)));
  },
  "host.assert_can_evacuate": (context, params) => {
    const reasons = obstaclesOn(context, textParam(params, 0)).map(
      ([, reason]) => reason.join(","),
    );
    if (reasons.length > 0)
      throw new XapiFailure("CANNOT_EVACUATE_HOST", [
        [...new Set(reasons)].join("|"),
      ]);
  },
  "host.retrieve_wlb_evacuate_recommendations": () => ({}),
  "host.evacuate": (context, params) => evacuate(context, textParam(params, 0)),
};

/** Live migration inside the pool. */
async function migrate(
  context: CallContext,
  vm: string,
  host: string,
): Promise<void> {
  const { db } = context;
  db.get("host", host);
  assertVmMay(db, vm, "pool_migrate");
  const source = text(db.get("VM", vm), "resident_on");
  if (source === host) return;
  assertReaches(db, source);
  assertNotOlder(db, { vm, source, host });
  assertCanBootHere(context, vm, host);
  await whileBusy(
    context,
    { className: "VM", ref: vm },
    "pool_migrate",
    async () => {
      await whileExpected(context, { vm, host }, async () => {
        await progressDuring(context, durations.migrate);
        assertStillRuns(db, vm);
        assertReaches(db, source);
        assertCanBootHere(context, vm, host);
      });
      moveDomain(context, vm, host);
    },
  );
  createVmMessage(
    context,
    vm,
    "VM_MIGRATED",
    `migrated from host: ${hostTitle(context, source)} to host: ${hostTitle(context, host)}`,
  );
}

/** VMs do not move to a host with an older toolstack [xapi_vm_helpers.ml, from memory]. */
function assertNotOlder(
  db: CallContext["db"],
  { vm, source, host }: { vm: string; source: string; host: string },
): void {
  const [from, to] = [source, host].map((ref) =>
    textIn(map(db.get("host", ref), "software_version"), "xapi_build"),
  ) as [string, string];
  if (from.localeCompare(to, "en", { numeric: true }) > 0)
    throw new XapiFailure("VM_HOST_INCOMPATIBLE_VERSION", [host, vm]);
}

function guestsOf(db: CallContext["db"], host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter(
    (vm) => db.get("VM", vm)["is_control_domain"] !== true,
  );
}

/** The guests that cannot be evacuated, with the reasons. */
export function obstaclesOn(
  pool: PoolData,
  host: string,
): readonly (readonly [vm: string, reason: readonly string[]])[] {
  const { db } = pool;
  const hasTarget = [...db.records("host")].some(
    ([ref, other]) =>
      ref !== host && other["enabled"] === true && isLive(db, ref),
  );
  return guestsOf(db, host)
    .map((vm) => {
      const none = ["NO_HOSTS_AVAILABLE", vm];
      return [vm, hasTarget ? obstacle(pool, vm, host) : none] as const;
    })
    .filter(([, reason]) => reason.length > 0);
}

/** Why a guest cannot leave its host: error code and parameters; empty where it can. */
function obstacle(pool: PoolData, vm: string, host: string): readonly string[] {
  try {
    assertVmMay(pool.db, vm, "pool_migrate");
  } catch (error) {
    if (error instanceof XapiFailure) return [error.code, ...error.params];
    throw error;
  }
  const others = possibleHosts(pool, vm).filter((other) => other !== host);
  if (others.length > 0) return [];
  return resourceElsewhere(pool.db, vm, host) ?? ["NO_HOSTS_AVAILABLE", vm];
}

/** The SR or network that no other host has, as in XAPI's answer: VM_REQUIRES_SR, VM_REQUIRES_NETWORK. */
function resourceElsewhere(
  db: CallContext["db"],
  vm: string,
  host: string,
): readonly string[] | undefined {
  const failures: XapiFailure[] = [];
  for (const other of db.refs("host"))
    try {
      if (other === host) continue;
      assertSeesResources(db, vm, other);
      return undefined;
    } catch (error) {
      if (!(error instanceof XapiFailure)) throw error;
      failures.push(error);
    }
  const [first] = failures;
  return first && [first.code, ...first.params];
}

/** All VMs are migrated, one after another, each to the host that fits best. The host accepts no new ones. */
async function evacuate(context: CallContext, host: string): Promise<void> {
  const { db } = context;
  const operations = Object.values(
    map(db.get("host", host), "current_operations"),
  );
  if (operations.includes("evacuate"))
    throw new XapiFailure("HOST_EVACUATE_IN_PROGRESS", [host]);
  // One guest that cannot be migrated prevents the evacuation [xapi_host.ml, from memory].
  const [stuck] = obstaclesOn(context, host);
  if (stuck !== undefined) {
    const [code, ...params] = stuck[1];
    throw new XapiFailure(code!, params);
  }
  await whileBusy(
    context,
    { className: "host", ref: host },
    "evacuate",
    async () => {
      if (db.get("host", host)["enabled"] === true)
        db.update("host", host, { enabled: false });
      const guests = guestsOf(db, host);
      for (const [index, vm] of guests.entries()) {
        const target = bestHost(
          context,
          vm,
          possibleHosts(context, vm).filter((other) => other !== host),
        );
        // A guest that cannot move is a reason to fail, with XAPI's error for it.
        assertCanBootHere(context, vm, target ?? host);
        await migrate({ ...context, task: undefined }, vm, target ?? host);
        context.task?.progress((index + 1) / guests.length);
      }
    },
  );
}

/** @throws XapiFailure CANNOT_CONTACT_HOST: the source host does not answer */
function assertReaches(db: CallContext["db"], host: string): void {
  if (!isLive(db, host)) throw new XapiFailure("CANNOT_CONTACT_HOST", [host]);
}
