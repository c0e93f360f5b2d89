import type { Test } from "tap";
import type { FastPool } from "./fast-pools.js";

export interface Action {
  readonly kind: "start" | "migrate";
  readonly vm: string;
  readonly from?: string;
  readonly to: string;
  readonly purpose: string;
}

export interface Plan {
  readonly actions: readonly Action[];
  readonly unplaced: readonly { readonly vm: string }[];
  readonly isProven: boolean;
}

export interface FailoverPlan extends Plan {
  readonly survives: boolean;
  readonly notRestarted: readonly string[];
}

export interface Outcome {
  readonly done: readonly unknown[];
  readonly failed: readonly unknown[];
  readonly skipped: readonly unknown[];
}

export function uuidOf(
  { db }: FastPool,
  className: string,
  ref: string,
): string {
  return db.get(className, ref)["uuid"] as string;
}

export function refOf(
  { db }: FastPool,
  className: string,
  uuid: string,
): string {
  return db.byUuid(className, uuid)!;
}

/** The host of the VM; undefined: it does not run. */
export function placeOf(pool: FastPool, vm: string): string | undefined {
  const record = pool.db.get("VM", refOf(pool, "VM", vm));
  return record["power_state"] === "Running"
    ? uuidOf(pool, "host", record["resident_on"] as string)
    : undefined;
}

/** Checks that all actions were executed and that VMs are on the planned hosts. */
export function checkOutcome(
  t: Test,
  pool: FastPool,
  { actions }: Plan,
  { done, failed, skipped }: Outcome,
): void {
  t.same(failed, []);
  t.same(skipped, []);
  t.equal(done.length, actions.length);
  const last = new Map(actions.map(({ vm, to }) => [vm, to]));
  for (const [vm, to] of last) t.equal(placeOf(pool, vm), to);
  t.same(pool.guard.violations, []);
}
