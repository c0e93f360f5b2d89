import { NULL_REF } from "@xo-server/model";
import type { CallContext, OperationTable } from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { flag, refIn, refs, text, textParam } from "../../records/fields.js";
import { createVmMessage } from "../effects/messages.js";
import { endDomain } from "./vm-domain.js";
import { refreshVm } from "../effects/refresh.js";
import { assertVmMay } from "./vm-checks.js";
import { copyTime } from "../storage/vdi-copies.js";
import { destroyDevices, destroyVm } from "./vm-destroy.js";
import {
  copyVbd,
  copyVif,
  duplicateVm,
  type Derivation,
  type DerivingOperation,
} from "./vm-duplicate.js";
import { copyVtpms, removeVtpm } from "./vtpms.js";

export const vmCopyOperations: OperationTable = {
  "VM.clone": (context, params) =>
    derive(context, textParam(params, 0), "clone", {
      name: textParam(params, 1),
    }),
  "VM.copy": (context, params) => {
    const [vm, sr] = [textParam(params, 0), textParam(params, 2)];
    // An unknown SR is not an error where there is nothing to copy to it.
    if (sr !== NULL_REF && hasDisks(context, vm)) context.db.get("SR", sr);
    return derive(context, vm, "copy", {
      name: textParam(params, 1),
      isFull: true,
      ...(sr === NULL_REF ? {} : { sr }),
    });
  },
  "VM.snapshot": (context, params) =>
    derive(context, textParam(params, 0), "snapshot", {
      name: textParam(params, 1),
      ignored: (params[2] ?? []) as readonly string[],
    }),
  "VM.checkpoint": (context, params) =>
    derive(context, textParam(params, 0), "checkpoint", {
      name: textParam(params, 1),
    }),
  "VM.snapshot_with_quiesce": ({ db }, params) => {
    assertNotBlocked(db, textParam(params, 0), "snapshot_with_quiesce");
    assertVmMay(db, textParam(params, 0), "snapshot");
    throw new XapiFailure("VM_SNAPSHOT_WITH_QUIESCE_NOT_SUPPORTED", [
      textParam(params, 0),
      "VSS is not supported",
    ]);
  },
  "VM.revert": (context, params) => revert(context, textParam(params, 0)),
  "VM.destroy": async (context, params) => {
    const vm = textParam(params, 0);
    const record = assertVmMay(context.db, vm, "destroy");
    if (flag(record, "is_default_template"))
      throw new XapiFailure("VM_CANNOT_DELETE_DEFAULT_TEMPLATE", [vm]);
    destroyVm(context, vm);
  },
};

function hasDisks({ db }: CallContext, vm: string): boolean {
  return refs(db.get("VM", vm), "VBDs").some(
    (vbd) => text(db.get("VBD", vbd), "type") === "Disk",
  );
}

async function derive(
  context: CallContext,
  vm: string,
  operation: DerivingOperation,
  derivation: Derivation,
): Promise<string> {
  assertVmMay(context.db, vm, operation);
  const copy = await whileBusy(
    context,
    { className: "VM", ref: vm },
    operation,
    async () => {
      await progressDuring(context, timeFor(context, vm, operation));
      return duplicateVm(context, vm, operation, derivation);
    },
  );
  if (operation === "snapshot" || operation === "checkpoint")
    createVmMessage(
      context,
      vm,
      operation === "snapshot" ? "VM_SNAPSHOTTED" : "VM_CHECKPOINTED",
      `${operation === "snapshot" ? "snapshotted" : "checkpointed"}, snapshot name: ${derivation.name}`,
    );
  return copy;
}

function timeFor(
  { db }: CallContext,
  vm: string,
  operation: DerivingOperation,
): number {
  if (operation === "clone") return durations.clone;
  if (operation !== "copy") return durations.snapshot;
  return refs(db.get("VM", vm), "VBDs")
    .map((vbd) => refIn(db.get("VBD", vbd), "VDI"))
    .reduce<number>(
      (sum, vdi) =>
        sum + (vdi === undefined ? 0 : copyTime(db.get("VDI", vdi))),
      durations.clone,
    );
}

/** The VM becomes what it was: fields, disks and interfaces of the snapshot. */
async function revert(context: CallContext, snapshot: string): Promise<void> {
  const { db } = context;
  const record = db.get("VM", snapshot);
  const vm = refIn(record, "snapshot_of");
  if (
    !flag(record, "is_a_snapshot") ||
    vm === undefined ||
    db.find("VM", vm) === undefined
  )
    throw new XapiFailure("VM_REVERT_FAILED", [snapshot, vm ?? NULL_REF]);
  assertNotBlocked(db, snapshot, "revert");
  assertNotBlocked(db, vm, "reverting");
  await whileBusy(context, { className: "VM", ref: vm }, "revert", async () => {
    // The guest is not notified: as after a power failure.
    if (refIn(db.get("VM", vm), "resident_on") !== undefined)
      endDomain(context, vm, "Halted");
    await progressDuring(context, durations.snapshot);
    destroyDevices(context, vm);
    db.update("VM", vm, {
      ...revertedFields(record),
      power_state: text(record, "power_state"),
      parent: snapshot,
    });
    for (const vbd of refs(record, "VBDs"))
      copyVbd(context, vbd, {
        copy: vm,
        isSnapshot: false,
        derivation: { name: "" },
      });
    for (const vif of refs(record, "VIFs"))
      copyVif(context, vif, { copy: vm, sameMac: true });
    for (const vtpm of refs(db.get("VM", vm), "VTPMs"))
      removeVtpm(context, vtpm);
    copyVtpms(context, snapshot, { vm, isSnapshot: true });
  });
  createVmMessage(
    context,
    vm,
    "VM_SNAPSHOT_REVERTED",
    `reverted to snapshot: ${text(record, "name_label")}`,
  );
  refreshVm(db, vm);
}

const kept = new Set([
  "uuid",
  "allowed_operations",
  "current_operations",
  "is_a_snapshot",
  "is_a_template",
  "snapshot_of",
  "snapshot_time",
  "snapshots",
  "snapshot_info",
  "snapshot_metadata",
  "metrics",
  "guest_metrics",
  "VBDs",
  "VIFs",
  "consoles",
  "VTPMs",
  "VUSBs",
  "VGPUs",
  "crash_dumps",
  "children",
  "parent",
  "resident_on",
  "domid",
  "power_state",
  "name_label",
  "groups",
  "appliance",
  "suspend_VDI",
]);

function revertedFields(snapshot: XapiRecord): XapiRecord {
  return Object.fromEntries(
    Object.entries(snapshot).filter(([name]) => !kept.has(name)),
  );
}
