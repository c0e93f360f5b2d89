import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../clock.js";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { progressDuring, whileBusy } from "./busy.js";
import { durations } from "./durations.js";
import { flag, map, refIn, refs, text, textParam, without } from "./fields.js";
import { tellVm } from "./messages.js";
import { refreshVm } from "./refresh.js";
import { randomMac } from "./vif.js";
import { assertVmMay, type CheckedOperation } from "./vm-checks.js";
import { copyTime, duplicateVdi } from "./vdi-copies.js";
import { destroyDevices, destroyVm } from "./vm-destroy.js";

export const vmCopyOperations: OperationTable = {
  "VM.clone": (context, params) =>
    derive(context, textParam(params, 0), "clone", {
      name: textParam(params, 1),
    }),
  "VM.copy": (context, params) => {
    const sr = textParam(params, 2);
    return derive(context, textParam(params, 0), "copy", {
      name: textParam(params, 1),
      ...(sr === NULL_REF ? {} : { sr: (context.db.get("SR", sr), sr) }),
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
  "VM.revert": (context, params) => revert(context, textParam(params, 0)),
  "VM.destroy": async (context, params) => {
    const vm = textParam(params, 0);
    const record = assertVmMay(context.db, vm, "destroy");
    if (flag(record, "is_default_template"))
      throw new XapiFailure("VM_CANNOT_DELETE_DEFAULT_TEMPLATE", [vm]);
    destroyVm(context, vm);
  },
};

interface Derivation {
  readonly name: string;
  /** Where a full copy's disks go. */
  readonly sr?: string;
  /** Disks that a snapshot leaves out. */
  readonly ignored?: readonly string[];
}

type DerivingOperation = CheckedOperation &
  ("clone" | "copy" | "snapshot" | "checkpoint");

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
    tellVm(
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

function duplicateVm(
  context: CallContext,
  source: string,
  operation: DerivingOperation,
  derivation: Derivation,
): string {
  const { db } = context;
  const vm = db.get("VM", source);
  const isSnapshot = operation === "snapshot" || operation === "checkpoint";
  const copy = db.create("VM", {
    ...freshVm(context, vm),
    name_label: derivation.name,
    metrics: copyObject(context, "VM_metrics", text(vm, "metrics")),
    guest_metrics: copyObject(
      context,
      "VM_guest_metrics",
      text(vm, "guest_metrics"),
    ),
    ...(isSnapshot ? snapshotFields(context, source, operation) : {}),
  });
  for (const vbd of refs(vm, "VBDs"))
    copyVbd(context, vbd, { copy, isSnapshot, derivation });
  for (const vif of refs(vm, "VIFs"))
    copyVif(context, vif, { copy, sameMac: isSnapshot });
  refreshVm(db, copy);
  return copy;
}

/** A VM's record as another VM starts with it: no identity, no domain, no history. */
function freshVm({ random }: CallContext, vm: XapiRecord): XapiRecord {
  const rest = without(vm, "uuid");
  return {
    ...rest,
    ...emptyLinks,
    other_config: { ...map(vm, "other_config"), mac_seed: random.uuid() },
    power_state: "Halted",
    is_default_template: false,
    domid: -1,
    generation_id: `${random.integer(2 ** 52)}:${random.integer(2 ** 52)}`,
  };
}

const emptyLinks: XapiRecord = {
  current_operations: {},
  allowed_operations: [],
  resident_on: NULL_REF,
  scheduled_to_be_resident_on: NULL_REF,
  suspend_VDI: NULL_REF,
  consoles: [],
  VIFs: [],
  VBDs: [],
  VUSBs: [],
  VTPMs: [],
  VGPUs: [],
  crash_dumps: [],
  attached_PCIs: [],
  snapshots: [],
  children: [],
  blobs: {},
  is_a_snapshot: false,
  snapshot_of: NULL_REF,
  snapshot_time: "19700101T00:00:00Z",
  snapshot_info: {},
  snapshot_metadata: "",
};

function snapshotFields(
  { db, clock }: CallContext,
  source: string,
  operation: DerivingOperation,
): XapiRecord {
  const vm = db.get("VM", source);
  const quiet = operation === "snapshot";
  return {
    other_config: map(vm, "other_config"),
    is_a_snapshot: true,
    is_a_template: true,
    snapshot_of: source,
    snapshot_time: toDatetime(clock.now()),
    snapshot_info: {
      "disk-snapshot-type": quiet ? "crash_consistent" : "checkpoint",
      "power-state-at-snapshot": text(vm, "power_state"),
    },
    power_state: quiet ? "Halted" : "Suspended",
    parent: text(vm, "parent"),
  };
}

function copyObject(
  { db }: CallContext,
  className: string,
  ref: string,
): string {
  const record = db.find(className, ref);
  if (record === undefined) return NULL_REF;
  return db.create(className, without(record, "uuid"));
}

function copyVbd(
  context: CallContext,
  ref: string,
  to: { copy: string; isSnapshot: boolean; derivation: Derivation },
): void {
  const { db } = context;
  const vbd = without(db.get("VBD", ref), "uuid");
  const vdi = refIn(vbd, "VDI");
  if (vdi !== undefined && to.derivation.ignored?.includes(vdi) === true)
    return;
  const shared =
    vdi === undefined ||
    text(vbd, "type") === "CD" ||
    flag(db.get("VDI", vdi), "sharable");
  db.create("VBD", {
    ...vbd,
    VM: to.copy,
    VDI: shared
      ? text(vbd, "VDI")
      : duplicateVdi(context, vdi, {
          isSnapshot: to.isSnapshot,
          ...(to.derivation.sr === undefined ? {} : { sr: to.derivation.sr }),
        }),
    currently_attached: false,
    device: "",
    current_operations: {},
  });
}

function copyVif(
  context: CallContext,
  ref: string,
  to: { copy: string; sameMac: boolean },
): void {
  const vif = without(context.db.get("VIF", ref), "uuid");
  context.db.create("VIF", {
    ...vif,
    VM: to.copy,
    MAC: to.sameMac ? text(vif, "MAC") : randomMac(context),
    currently_attached: false,
    current_operations: {},
  });
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
    throw new XapiFailure("VM_REVERT_FAILED", [vm ?? NULL_REF, snapshot]);
  await whileBusy(context, { className: "VM", ref: vm }, "revert", async () => {
    await progressDuring(context, durations.snapshot);
    destroyDevices(context, vm);
    db.update("VM", vm, revertedFields(record));
    for (const vbd of refs(record, "VBDs"))
      copyVbd(context, vbd, {
        copy: vm,
        isSnapshot: false,
        derivation: { name: "" },
      });
    for (const vif of refs(record, "VIFs"))
      copyVif(context, vif, { copy: vm, sameMac: true });
  });
  tellVm(
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
