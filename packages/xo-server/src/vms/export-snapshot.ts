import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { retryWhileInUse } from "../transfers/retry-while-in-use.js";
import { destroyVm } from "./destroy-vm.js";
import { isHandleInvalid } from "./rollback.js";
import { readRecord } from "./xapi-records.js";

/** Interval of the checks whether a snapshot of the VM is being taken, in ms. */
const CHECK_MS = 1_000;
/** Number of these checks. */
const MAX_CHECKS = 300;

/** A unique name for the snapshot of an export, by which it is found if the server is killed while it is taken. */
export function newExportMark(): string {
  return `[export ${randomUUID()}]`;
}

/**
 * Takes a snapshot to export a running VM, which XAPI cannot export itself.
 * @param mark its name, see newExportMark
 * @throws XapiError
 */
export async function takeExportSnapshot(
  xapi: Xapi,
  vm: Ref,
  mark: string,
): Promise<Ref> {
  return (await xapi.callAsync("VM.snapshot", [vm, mark])) as Ref;
}

/** The snapshot gets the VM's name, and its import creates a VM, not a template. @throws XapiError */
export async function prepareExportSnapshot(
  xapi: Xapi,
  vm: Ref,
  snapshot: Ref,
): Promise<void> {
  const { name_label } = await readRecord(xapi, "VM", vm);
  await xapi.call("VM.set_name_label", [snapshot, name_label]);
  await xapi.call("VM.set_is_a_template", [snapshot, false]);
}

/**
 * Deletes the snapshot of a server that was killed while it was taken. The pool may still be taking it.
 * @throws XapiError
 */
export async function dropMarkedSnapshot(
  xapi: Xapi,
  vm: Ref,
  mark: string,
): Promise<void> {
  for (let i = 0; i < MAX_CHECKS; i++) {
    const running = await xapi.call("VM.get_current_operations", [vm]);
    if (!Object.values(running as object).includes("snapshot")) break;
    await pause(CHECK_MS);
  }
  const found = await xapi.call("VM.get_by_name_label", [mark]);
  for (const ref of found as readonly Ref[])
    await dropExportSnapshot(xapi, ref);
}

/** Deletes the snapshot with its disks, if it still exists. */
export async function dropExportSnapshot(xapi: Xapi, ref: Ref): Promise<void> {
  const destroy = () =>
    destroyVm(xapi, ref, {
      deleteDisks: true,
      bypassBlock: true,
      evenDefaultTemplate: false,
    });
  await retryWhileInUse(destroy).catch((error: unknown) => {
    if (!isHandleInvalid(error)) throw error;
  });
}
