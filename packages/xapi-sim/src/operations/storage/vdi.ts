import type { CallContext, OperationTable } from "../../operation.js";
import { NULL_REF } from "@xo-server/model";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { denied } from "../effects/failures.js";
import { assertHasData } from "./cbt.js";
import { coalesceAfterDelete } from "./disk-chains.js";
import { deleteContents, reportGrowth } from "./disk-data.js";
import { recordForgottenDisk } from "./forgotten-disks.js";
import {
  flag,
  int,
  intParam,
  map,
  refIn,
  refs,
  text,
  textParam,
} from "../../records/fields.js";
import {
  assertHoldsDisks,
  assertIdle,
  diskSize,
  growth,
  takenByNew,
} from "./sr-checks.js";
import { isInUse, refreshVdi } from "../effects/refresh.js";
import { addAllocation, takeSpace } from "./sr-space.js";
import {
  assertNoTrackedDisk,
  assertNoTrackedSnapshot,
  disksOfSnapshots,
} from "./tracked-disks.js";
import { copyTime, duplicateVdi } from "./vdi-copies.js";

export const vdiOperationTable: OperationTable = {
  "VDI.create": async (context, params) => {
    const { db, random } = context;
    const record = params[0] as XapiRecord;
    const sr = text(record, "SR");
    assertHoldsDisks(db, sr);
    const virtual_size = diskSize(int(record, "virtual_size"));
    await context.delay(durations.diskChange);
    const uuid = random.uuid();
    const taken = takenByNew(db, sr, virtual_size);
    takeSpace(context, sr, taken);
    addAllocation(context, sr, virtual_size);
    const vdi = db.create("VDI", {
      ...record,
      virtual_size,
      uuid,
      location: uuid,
      managed: true,
      physical_utilisation: taken,
    });
    context.state.disks.create(uuid, virtual_size);
    refreshVdi(db, vdi);
    return vdi;
  },
  "VDI.destroy": async (context, params) => {
    const ref = textParam(params, 0);
    assertFree(context, ref, "destroy");
    await context.delay(durations.diskChange);
    removeVdi(context, ref, { freesSpace: true });
  },
  "VDI.forget": (context, params) => {
    const ref = textParam(params, 0);
    assertFree(context, ref, "forget");
    recordForgottenDisk(context, ref);
    removeVdi(context, ref, { freesSpace: false });
  },
  "VDI.db_forget": (context, params) => {
    removeVdi(context, textParam(params, 0), { freesSpace: false });
  },
  "VDI.snapshot": (context, params) =>
    duplicate(context, textParam(params, 0), "snapshot"),
  "VDI.clone": (context, params) =>
    duplicate(context, textParam(params, 0), "clone"),
  "VDI.copy": (context, params) => copy(context, params as readonly string[]),
  "VDI.resize": (context, params) =>
    resize(context, textParam(params, 0), intParam(params, 1)),
  "VDI.resize_online": (context, params) =>
    resize(context, textParam(params, 0), intParam(params, 1)),
  "VDI.pool_migrate": async (context, params) => {
    const [ref, sr] = [textParam(params, 0), textParam(params, 1)];
    const { db } = context;
    const vdi = db.get("VDI", ref);
    assertHoldsDisks(db, sr);
    assertHasData(db, ref);
    if (refs(vdi, "VBDs").length === 0)
      throw new XapiFailure("VDI_NEEDS_VM_FOR_MIGRATE", [ref]);
    if (flag(vdi, "cbt_enabled"))
      throw new XapiFailure("VDI_CBT_ENABLED", [ref]);
    // XAPI migrates the VM of the disk, with this disk only.
    for (const vbd of refs(vdi, "VBDs"))
      assertNoTrackedDisk(db, text(db.get("VBD", vbd), "VM"));
    if (vdi["SR"] !== sr) assertNoTrackedSnapshot(db, [ref]);
    assertIdle(db, "VDI", ref);
    return whileBusy(context, { className: "VDI", ref }, "mirror", async () => {
      await progressDuring(context, copyTime(vdi));
      // There already: it stays what it is.
      return vdi["SR"] === sr ? ref : moveVdi(context, ref, sr);
    });
  },
  "VDI.update": () => undefined,
  // Storage drivers write them, not clients.
  "VDI.set_read_only": denied("VDI"),
  "VDI.set_sharable": denied("VDI"),
  "VDI.set_virtual_size": denied("VDI"),
  "VDI.set_physical_utilisation": denied("VDI"),
  "VDI.set_on_boot": ({ db }, params) => {
    const [ref, on_boot] = [textParam(params, 0), textParam(params, 1)];
    if (flag(db.get("VDI", ref), "cbt_enabled"))
      throw new XapiFailure("VDI_CBT_ENABLED", [ref]);
    db.update("VDI", ref, { on_boot });
  },
  "VDI.generate_config": () => "",
  "VDI.revert": (context, params) => {
    const snapshot = context.db.get("VDI", textParam(params, 0));
    const vdi = refIn(snapshot, "snapshot_of");
    if (vdi === undefined)
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        "The VDI is not a snapshot",
      ]);
    assertFree(context, vdi, "revert_to");
    const { disks } = context.state;
    const uuid = text(context.db.get("VDI", vdi), "uuid");
    disks.resize(uuid, int(snapshot, "virtual_size"));
    disks.replace(text(snapshot, "uuid"), uuid);
    context.db.update("VDI", vdi, {
      virtual_size: int(snapshot, "virtual_size"),
    });
  },
};

async function duplicate(
  context: CallContext,
  ref: string,
  operation: "snapshot" | "clone",
): Promise<string> {
  assertHoldsDisks(context.db, text(context.db.get("VDI", ref), "SR"));
  assertHasData(context.db, ref);
  assertIdle(context.db, "VDI", ref);
  return whileBusy(context, { className: "VDI", ref }, operation, async () => {
    await context.delay(durations.diskChange);
    return duplicateVdi(context, ref, { isSnapshot: operation === "snapshot" });
  });
}

/** A full copy; with an existing disk to copy into, or only what differs from a base. */
async function copy(
  context: CallContext,
  [ref, sr = NULL_REF, base = NULL_REF, into = NULL_REF]: readonly string[],
): Promise<string> {
  const { db, state } = context;
  const vdi = db.get("VDI", ref!);
  // Neither an SR nor a disk: an unknown SR.
  if (into === NULL_REF) assertHoldsDisks(db, sr);
  else assertTarget(context, vdi, into);
  const uuidOf = (disk: string) => text(db.get("VDI", disk), "uuid");
  const from = base === NULL_REF ? undefined : uuidOf(base);
  assertCopyable(context, ref!);
  return whileBusy(
    context,
    { className: "VDI", ref: ref! },
    "copy",
    async () => {
      await progressDuring(context, copyTime(vdi));
      if (into === NULL_REF)
        return duplicateVdi(context, ref!, { isSnapshot: false, sr });
      if (from === undefined) state.disks.replace(uuidOf(ref!), uuidOf(into));
      else state.disks.patch(uuidOf(ref!), from, uuidOf(into));
      reportGrowth(context, into);
      return into;
    },
  );
}

/** @throws XapiFailure VDI_READONLY, VDI_TOO_SMALL, VDI_IN_USE, VDI_INCOMPATIBLE_TYPE */
function assertTarget(
  { db }: CallContext,
  source: XapiRecord,
  into: string,
): void {
  const target = db.get("VDI", into);
  assertHasData(db, into);
  if (flag(target, "read_only") || flag(target, "is_a_snapshot"))
    throw new XapiFailure("VDI_READONLY", [into]);
  if (int(target, "virtual_size") < int(source, "virtual_size"))
    throw new XapiFailure("VDI_TOO_SMALL", [
      into,
      String(int(source, "virtual_size")),
    ]);
  if (isInUse(db, into)) throw new XapiFailure("VDI_IN_USE", [into, "copy"]);
}

async function resize(
  context: CallContext,
  ref: string,
  requested: number,
): Promise<void> {
  const size = diskSize(requested);
  const before = int(context.db.get("VDI", ref), "virtual_size");
  if (size < before)
    throw new XapiFailure("VDI_TOO_SMALL", [ref, String(before)]);
  if (isInUse(context.db, ref))
    throw new XapiFailure("VDI_IN_USE", [ref, "resize"]);
  assertHasData(context.db, ref);
  assertIdle(context.db, "VDI", ref);
  await whileBusy(context, { className: "VDI", ref }, "resize", async () => {
    await context.delay(durations.diskChange);
    const { SR, physical_utilisation } = context.db.get("VDI", ref);
    const more = growth(context.db, ref, size);
    takeSpace(context, SR as string, more);
    context.state.disks.resize(text(context.db.get("VDI", ref), "uuid"), size);
    context.db.update("VDI", ref, {
      virtual_size: size,
      physical_utilisation: Number(physical_utilisation) + more,
    });
    addAllocation(
      context,
      text(context.db.get("VDI", ref), "SR"),
      size - before,
    );
  });
}

function assertFree({ db }: CallContext, ref: string, operation: string): void {
  const vdi = db.get("VDI", ref);
  if (!flag(vdi, "managed") && operation !== "forget")
    throw new XapiFailure("VDI_NOT_MANAGED", [ref]);
  if (text(vdi, "type") === "ha_statefile")
    throw new XapiFailure("HA_IS_ENABLED");
  if (isInUse(db, ref)) throw new XapiFailure("VDI_IN_USE", [ref, operation]);
  assertIdle(db, "VDI", ref);
}

/**
 * A disk may be copied several times at once, but not while a VM writes to it.
 */
function assertCopyable({ db }: CallContext, ref: string): void {
  assertHasData(db, ref);
  const vdi = db.get("VDI", ref);
  const writes = refs(vdi, "VBDs").some((vbd) => {
    const record = db.get("VBD", vbd);
    return flag(record, "currently_attached") && text(record, "mode") === "RW";
  });
  if (writes) throw new XapiFailure("VDI_IN_USE", [ref, "copy"]);
  const operations = Object.values(map(vdi, "current_operations"));
  if (operations.some((operation) => operation !== "copy"))
    assertIdle(db, "VDI", ref);
}

/**
 * Moves a disk to another SR, with the disks of the snapshots of VMs that are snapshots of it.
 * @returns its new reference
 */
export function moveVdi(context: CallContext, ref: string, sr: string): string {
  const moved = replaceVdi(context, ref, sr);
  for (const snapshot of disksOfSnapshots(context.db, ref)) {
    const { is_a_snapshot, snapshot_time } = context.db.get("VDI", snapshot);
    const other = replaceVdi(context, snapshot, sr);
    context.db.update("VDI", other, {
      is_a_snapshot: is_a_snapshot!,
      snapshot_time: snapshot_time!,
      snapshot_of: moved,
    });
    removeVdi(context, snapshot, { freesSpace: true });
  }
  removeVdi(context, ref, { freesSpace: true });
  refreshVdi(context.db, moved);
  return moved;
}

/** A copy in another SR takes over all VBDs. */
function replaceVdi(context: CallContext, ref: string, sr: string): string {
  const { db } = context;
  const copy = duplicateVdi(context, ref, { isSnapshot: false, sr });
  for (const vbd of refs(db.get("VDI", ref), "VBDs"))
    db.update("VBD", vbd, { VDI: copy });
  return copy;
}

/** Deletes a VDI with its VBDs; CD drives are emptied. */
export function removeVdi(
  context: CallContext,
  ref: string,
  { freesSpace }: { freesSpace: boolean },
): void {
  const { db } = context;
  const vdi = db.get("VDI", ref);
  const sr = text(vdi, "SR");
  for (const vbd of refs(vdi, "VBDs")) {
    if (text(db.get("VBD", vbd), "type") === "CD")
      db.update("VBD", vbd, { VDI: NULL_REF, empty: true });
    else db.destroy("VBD", vbd);
  }
  if (freesSpace) deleteContents(context, ref);
  db.destroy("VDI", ref);
  if (freesSpace) takeSpace(context, sr, -int(vdi, "physical_utilisation"));
  addAllocation(context, sr, -int(vdi, "virtual_size"));
  if (freesSpace) coalesceAfterDelete(context, vdi);
}
