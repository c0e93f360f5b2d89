import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import type { PoolData, PoolState } from "../../pool-state.js";
import type { XapiRecord } from "../../xapi-value.js";
import { int, text } from "../../records/fields.js";

/** Bytes that a host needs to run the VM. */
export function memoryNeeded(vm: XapiRecord): number {
  return int(vm, "memory_dynamic_max") + int(vm, "memory_overhead");
}

/** Bytes of a host that no domain has taken. */
export function freeMemory(db: Database, host: string): number {
  const metrics = db.find(
    "host_metrics",
    text(db.get("host", host), "metrics"),
  );
  return metrics === undefined ? 0 : int(metrics, "memory_free");
}

/** Frees `bytes` of a host's memory, or allocates them where negative. */
export function releaseMemory(db: Database, host: string, bytes: number): void {
  const metrics = text(db.get("host", host), "metrics");
  if (db.find("host_metrics", metrics) === undefined) return;
  db.update("host_metrics", metrics, {
    memory_free: freeMemory(db, host) + bytes,
  });
}

/** A host boots with the memory of its control domain that was set meanwhile. */
export function bootControlDomain(db: Database, host: string): void {
  const ref = text(db.get("host", host), "control_domain");
  const vm = db.find("VM", ref);
  if (vm?.["requires_reboot"] !== true) return;
  const bytes = int(vm, "memory_static_max");
  const metrics = text(vm, "metrics");
  const before = int(db.get("VM_metrics", metrics), "memory_actual");
  releaseMemory(db, host, before - bytes);
  db.update("VM_metrics", metrics, { memory_actual: bytes });
  db.update("VM", ref, { requires_reboot: false });
}

/** Bytes that VMs which are about to start on a host, or to come there, will take; `except` is not counted. */
export function memoryExpected(
  { expectedMemory }: PoolState,
  host: string,
  except: string,
): number {
  let sum = 0;
  for (const [vm, bytes] of expectedMemory.get(host) ?? [])
    if (vm !== except) sum += bytes;
  return sum;
}

/**
 * Reserves memory on the target host while `work` lasts, as XAPI does for VMs
 * with scheduled_to_be_resident_on.
 */
export async function whileExpected(
  { db, state }: PoolData,
  { vm, host }: { readonly vm: string; readonly host: string },
  work: () => Promise<void>,
): Promise<void> {
  const hosts = state.expectedMemory;
  const expected = hosts.get(host) ?? new Map<string, number>();
  hosts.set(host, expected);
  expected.set(vm, memoryNeeded(db.get("VM", vm)));
  db.update("VM", vm, { scheduled_to_be_resident_on: host });
  try {
    await work();
  } catch (error) {
    if (db.find("VM", vm) !== undefined)
      db.update("VM", vm, { scheduled_to_be_resident_on: NULL_REF });
    throw error;
  } finally {
    expected.delete(vm);
  }
}
