import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { retryWhileInUse } from "../transfers/retry-while-in-use.js";
import { isHandleInvalid, type Rollback } from "./rollback.js";
import {
  disksOf,
  isRunning,
  isSet,
  readVbds,
  readRecord,
  type VmRecord,
} from "./xapi-records.js";

interface DestroyOptions {
  readonly deleteDisks: boolean;
  /** Whether to delete the VM even if `destroy` is blocked. */
  readonly bypassBlock: boolean;
  /** Whether even a default template of the product is deleted. */
  readonly evenDefaultTemplate: boolean;
  /** Whether even a running or paused VM is deleted. Default: true. */
  readonly evenRunning?: boolean;
}

/**
 * Deletes a VM, template or snapshot together with its snapshots. Disks that are
 * attached to other VMs too are kept. A running VM is shut down hard first.
 * @throws XoError FORBIDDEN_OPERATION, VM_BAD_POWER_STATE; LEFT_BEHIND names disks
 * and snapshots that were not deleted
 */
export async function destroyVm(
  xapi: Xapi,
  ref: Ref,
  options: DestroyOptions,
): Promise<void> {
  const vm = await readRecord(xapi, "VM", ref);
  assertAllowed(vm, options);
  if (options.evenRunning === false && isRunning(vm))
    throw new XoError("VM_BAD_POWER_STATE", {
      objectId: vm.uuid,
      actual: vm.power_state.toLowerCase(),
      expected: "halted",
    });
  const disks = options.deleteDisks ? await ownDisks(xapi, vm, ref) : [];
  // A snapshot with memory has the power state Suspended.
  if (vm.power_state !== "Halted")
    await xapi.callAsync("VM.hard_shutdown", [ref]);
  await unlock(xapi, ref, vm);
  await xapi.callAsync("VM.destroy", [ref]);
  const left = [
    ...(await destroyAll(disks, (vdi) =>
      retryWhileInUse(() => xapi.callAsync("VDI.destroy", [vdi])),
    )),
    ...(await destroyAll(vm.snapshots, (snapshot) =>
      destroyVm(xapi, snapshot, { ...options, bypassBlock: true }),
    )),
  ];
  if (left.length > 0)
    throw new XoError("LEFT_BEHIND", {
      reason: `${vm.name_label} is deleted`,
      left: left.join(", "),
    });
}

/**
 * Adds the deletion of a VM with its disks to a rollback.
 * @param what its description in errors, if it cannot be deleted
 */
export function addVm(rollback: Rollback, ref: Ref, what = `VM ${ref}`): void {
  const options = {
    deleteDisks: true,
    bypassBlock: true,
    evenDefaultTemplate: true,
  };
  rollback.add(what, (cleanupXapi) => destroyVm(cleanupXapi, ref, options));
}

/** XAPI checks this itself, but only after the VM has been shut down. */
function assertAllowed(vm: VmRecord, options: DestroyOptions): void {
  const blocked = Object.hasOwn(vm.blocked_operations, "destroy")
    ? vm.blocked_operations["destroy"]
    : undefined;
  if (blocked !== undefined && !options.bypassBlock)
    throw forbidden(vm, blocked);
  if (isDefaultTemplate(vm) && !options.evenDefaultTemplate)
    throw forbidden(vm, "it is a default template");
}

function isDefaultTemplate(vm: VmRecord): boolean {
  return (
    vm.is_a_template &&
    (vm.is_default_template === true ||
      vm.other_config["default_template"] === "true")
  );
}

function forbidden({ uuid }: VmRecord, reason: string): XoError {
  return new XoError("FORBIDDEN_OPERATION", {
    operation: "destroy",
    reason,
    objectId: uuid,
  });
}

async function unlock(xapi: Xapi, ref: Ref, vm: VmRecord): Promise<void> {
  if (isDefaultTemplate(vm))
    await xapi.call("VM.set_is_default_template", [ref, false]);
  if (Object.hasOwn(vm.blocked_operations, "destroy"))
    await xapi.call("VM.remove_from_blocked_operations", [ref, "destroy"]);
}

/** Disks that no other VM than this one uses, including its suspend image. */
async function ownDisks(xapi: Xapi, vm: VmRecord, ref: Ref): Promise<Ref[]> {
  const vbds = disksOf(await readVbds(xapi, vm.VBDs));
  const vdis = [...new Set(vbds.map(({ VDI }) => VDI))];
  const owned = await Promise.all(vdis.map((vdi) => isOnlyOf(xapi, vdi, ref)));
  const own = vdis.filter((_, i) => owned[i]);
  return isSet(vm.suspend_VDI) ? [...own, vm.suspend_VDI] : own;
}

async function isOnlyOf(xapi: Xapi, vdi: Ref, vm: Ref): Promise<boolean> {
  const { VBDs } = await readRecord(xapi, "VDI", vdi);
  for (const { VM } of await readVbds(xapi, VBDs))
    // The control domain has a disk while it is read or written.
    if (VM !== vm && !(await readRecord(xapi, "VM", VM)).is_control_domain)
      return false;
  return true;
}

/** @returns the objects that were not deleted, each with the reason */
async function destroyAll(
  refs: readonly Ref[],
  destroy: (ref: Ref) => Promise<unknown>,
): Promise<string[]> {
  const left: string[] = [];
  for (const ref of refs)
    try {
      await destroy(ref);
    } catch (error) {
      const reason = error instanceof Error ? error.message : "";
      if (!isHandleInvalid(error)) left.push(`${ref} (${reason})`);
    }
  return left;
}
