import type { CallContext } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { failoverPlan, mostFailures } from "./failover-plan.js";
import { flag, int, text } from "../../records/fields.js";
import { guestsOn, isLive } from "../capacity/host-choice.js";
import { createMessage } from "../effects/messages.js";
import { refreshVm } from "../effects/refresh.js";
import { endDomain } from "../vm/vm-domain.js";
import { vmPowerOperations } from "../vm/vm-power.js";

/*
 * What HA does when a host dies [xapi_ha_vm_failover.ml, restart_auto_run_vms]: the host is
 * declared dead and its guests halted; the protected ones start on the hosts of the plan, those of
 * one order at a time; the best-effort ones where there is room.
 */

/** Whether this simulated pool has HA enabled. */
export function isHaEnabled({ db, pool }: CallContext): boolean {
  return flag(db.get("pool", pool.poolRef), "ha_enabled");
}

/** The pool has found out that a host is dead, unless it is back. */
export async function failOver(
  context: CallContext,
  host: string,
): Promise<void> {
  const { db, pool } = context;
  const record = db.find("host", host);
  if (record === undefined || isLive(db, host)) return;
  // Without a new coordinator nothing is started.
  if (host === pool.coordinatorRef() && !pool.takeOver()) return;
  createMessage(
    context,
    { cls: "Host", uuid: text(record, "uuid"), priority: 3 },
    "HA_HOST_FAILED",
    `Server '${text(record, "name_label")}' has failed`,
  );
  const guests = guestsOn(context, host);
  haltGuests(context, guests);
  await restartGuests(context, guests);
}

/** Guests of a host that is dead do not run any more. */
export function haltGuests(
  context: CallContext,
  guests: readonly string[],
): void {
  for (const vm of guests) {
    endDomain(context, vm, "Halted");
    refreshVm(context.db, vm);
  }
}

/** HA: of these halted guests those that are protected start, then the best-effort ones. */
export async function restartGuests(
  context: CallContext,
  guests: readonly string[],
): Promise<void> {
  const { db } = context;
  const ofPriority = (priority: string) =>
    guests.filter(
      (vm) => text(db.get("VM", vm), "ha_restart_priority") === priority,
    );
  const safe = ofPriority("restart");
  const plan = failoverPlan(db, [], safe);
  const failed = await startInOrder(context, safe, plan ?? new Map());
  // One last attempt, wherever there is room.
  for (const vm of await startInOrder(context, failed, new Map()))
    createMessage(
      context,
      { cls: "VM", uuid: text(db.get("VM", vm), "uuid"), priority: 2 },
      "HA_PROTECTED_VM_RESTART_FAILED",
      "",
    );
  await startInOrder(context, ofPriority("best-effort"), new Map());
  updateStatus(context);
}

/**
 * Starts VMs by ascending order; the next order when the former has started and its delay has
 * passed.
 * @returns VMs that did not start
 */
async function startInOrder(
  context: CallContext,
  vms: readonly string[],
  plan: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const { db } = context;
  const orderOf = (vm: string) => {
    const order = int(db.get("VM", vm), "order");
    return order < 0 ? Infinity : order;
  };
  const orders = [...new Set(vms.map(orderOf))].sort((a, b) => a - b);
  const failed: string[] = [];
  for (const order of orders) {
    const group = vms.filter((vm) => orderOf(vm) === order);
    await Promise.all(
      group.map(async (vm) => {
        if (!(await isStarted(context, vm, plan.get(vm)))) failed.push(vm);
        else await context.delay(int(db.get("VM", vm), "start_delay") * 1000);
      }),
    );
  }
  return failed;
}

async function isStarted(
  context: CallContext,
  vm: string,
  host: string | undefined,
): Promise<boolean> {
  try {
    if (host === undefined)
      await vmPowerOperations["VM.start"]!(context, [vm, false, true]);
    else
      await vmPowerOperations["VM.start_on"]!(context, [vm, host, false, true]);
    return true;
  } catch (error) {
    if (error instanceof XapiFailure) return false;
    throw error;
  }
}

/** How many further failures the pool tolerates, and the alert if these are too few. */
function updateStatus(context: CallContext): void {
  const { db, pool } = context;
  const record = db.get("pool", pool.poolRef);
  const before = int(record, "ha_plan_exists_for");
  const most = mostFailures(db);
  const requested = int(record, "ha_host_failures_to_tolerate");
  const now = Math.min(most, requested);
  db.update("pool", pool.poolRef, {
    ha_plan_exists_for: now,
    ha_overcommitted: now < requested,
  });
  if (now < before)
    createMessage(
      context,
      { cls: "Pool", uuid: text(record, "uuid"), priority: 3 },
      "HA_POOL_DROP_IN_PLAN_EXISTS_FOR",
      String(now),
    );
}
