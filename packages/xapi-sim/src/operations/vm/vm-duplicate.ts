import { NULL_REF } from "@xo-server/model";
import { databaseText } from "../../database-text.js";
import { NEVER, toDatetime } from "../../clock.js";
import type { CallContext } from "../../operation.js";
import type { XapiRecord } from "../../xapi-value.js";
import { flag, map, refIn, refs, text, without } from "../../records/fields.js";
import { refreshVm } from "../effects/refresh.js";
import { randomMac } from "../network/vif.js";
import { duplicateVdi } from "../storage/vdi-copies.js";
import { copyVtpms } from "./vtpms.js";

/** How VMs come from VMs. */
export type DerivingOperation = "clone" | "copy" | "snapshot" | "checkpoint";

export interface Derivation {
  readonly name: string;
  /** Disks are copied in full, and share nothing with their originals. */
  readonly isFull?: boolean;
  /** Where a full copy's disks go; default: where they are. */
  readonly sr?: string;
  /** Disks that a snapshot leaves out. */
  readonly ignored?: readonly string[];
}

/** Another VM like `source`, with metrics, disks and interfaces of its own. */
export function duplicateVm(
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
  const metrics = text(db.get("VM", copy), "metrics");
  if (!isSnapshot && metrics !== NULL_REF)
    db.update("VM_metrics", metrics, { start_time: NEVER });
  for (const vbd of refs(vm, "VBDs"))
    copyVbd(context, vbd, { copy, isSnapshot, derivation });
  for (const vif of refs(vm, "VIFs"))
    copyVif(context, vif, { copy, sameMac: isSnapshot });
  copyVtpms(context, source, { vm: copy, isSnapshot });
  if (isSnapshot) db.update("VM", source, { parent: copy });
  refreshVm(db, copy);
  return copy;
}

/** A VM's record as another VM starts with it: no identity, no domain, no history. */
function freshVm({ random }: CallContext, vm: XapiRecord): XapiRecord {
  const rest = without(vm, "uuid");
  return {
    ...rest,
    ...emptyLinks,
    other_config: {
      // Copies of what came with the product did not.
      ...without(map(vm, "other_config"), "default_template"),
      ...(flag(vm, "is_a_template") && !flag(vm, "is_a_snapshot")
        ? { base_template_name: text(vm, "name_label") }
        : {}),
      mac_seed: random.uuid(),
    },
    power_state: "Halted",
    is_default_template: false,
    domid: -1,
    generation_id: `${random.integer(2 ** 52)}:${random.integer(2 ** 52)}`,
  };
}

const emptyLinks: XapiRecord = {
  current_operations: {},
  allowed_operations: [],
  // [xapi_vm_clone.ml copy_vm_record]
  blocked_operations: {},
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
  parent: NULL_REF,
  children: [],
  blobs: {},
  is_a_snapshot: false,
  snapshot_of: NULL_REF,
  snapshot_time: NEVER,
  snapshot_info: {},
  snapshot_metadata: "",
};

function snapshotFields(
  { db, clock }: CallContext,
  source: string,
  operation: DerivingOperation,
): XapiRecord {
  const vm = db.get("VM", source);
  const isSnapshot = operation === "snapshot";
  return {
    other_config: map(vm, "other_config"),
    is_a_snapshot: true,
    is_a_template: true,
    snapshot_of: source,
    snapshot_time: toDatetime(clock.now()),
    snapshot_metadata: databaseText(vm),
    snapshot_info: {
      "disk-snapshot-type": isSnapshot ? "crash_consistent" : "checkpoint",
      "power-state-at-snapshot": text(vm, "power_state"),
    },
    power_state: isSnapshot ? "Halted" : "Suspended",
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

/** A VBD for `copy` like this one; its disk is duplicated, an image in a CD drive is shared. */
export function copyVbd(
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
          ...targetSrOf(db.get("VDI", vdi), to.derivation),
        }),
    currently_attached: false,
    device: "",
    current_operations: {},
  });
}

function targetSrOf(
  vdi: XapiRecord,
  { sr, isFull }: Derivation,
): { readonly sr?: string } {
  if (sr !== undefined) return { sr };
  return isFull === true ? { sr: text(vdi, "SR") } : {};
}

/** Copies a VIF to another VM, as `VM.copy` does. `sameMac`: snapshots and revert keep the address. */
export function copyVif(
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
