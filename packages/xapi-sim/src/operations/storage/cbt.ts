import type { Database } from "../../database.js";
import { UnrelatedDisks } from "../../disks/changed-blocks.js";
import type { CallContext, OperationTable } from "../../operation.js";
import type { Random } from "../../random.js";
import { flag, int, map, refs, text, textParam } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";
import { whileBusy } from "../effects/busy.js";
import { coalesceAfterDelete, linked } from "./disk-chains.js";
import { durations } from "../effects/durations.js";
import { isInUse } from "../effects/refresh.js";
import { assertIdle, assertPlugged } from "./sr-checks.js";
import { takeSpace } from "./sr-space.js";

/** How long `data_destroy` waits for VBDs to go [xapi_vdi.ml, from memory]. */
const VBD_WAIT_MS = 4000;
const VBD_CHECKS = 8;
/** A connection takes real time to close, whatever the pace of the pool. */
const CLOSING_MS = 50;

/** Changed block tracking. */
export const cbtOperations: OperationTable = {
  "VDI.enable_cbt": (context, params) =>
    setTracking(context, textParam(params, 0), true),
  "VDI.disable_cbt": (context, params) =>
    setTracking(context, textParam(params, 0), false),
  "VDI.data_destroy": async (context, params) => {
    const { db, state } = context;
    const ref = textParam(params, 0);
    if (text(db.get("VDI", ref), "type") === "cbt_metadata") return;
    assertDataDestroyable(db, ref);
    await untilWithoutVbds(context, ref);
    assertIdle(db, "VDI", ref);
    await whileBusy(
      context,
      { className: "VDI", ref },
      "data_destroy",
      async () => {
        await context.delay(durations.diskChange);
        const vdi = db.get("VDI", ref);
        state.disks.removeData(text(vdi, "uuid"));
        takeSpace(context, text(vdi, "SR"), -int(vdi, "physical_utilisation"));
        db.update("VDI", ref, {
          type: "cbt_metadata",
          physical_utilisation: 0,
          sm_config: linked(map(vdi, "sm_config"), ""),
        });
        coalesceAfterDelete(context, vdi);
      },
    );
  },
  "VDI.list_changed_blocks": (context, params) => {
    const { db } = context;
    const [from, to] = [textParam(params, 0), textParam(params, 1)];
    assertPlugged(db, text(db.get("VDI", from), "SR"));
    db.get("VDI", to);
    assertIdle(db, "VDI", from);
    assertIdle(db, "VDI", to);
    if (isInUse(db, to))
      throw new XapiFailure("VDI_IN_USE", [to, "list_changed_blocks"]);
    return changedBlocks(context, from, to).toString("base64");
  },
};

/** @throws XapiFailure VDI_INCOMPATIBLE_TYPE for a disk whose data were destroyed */
export function assertHasData(db: Database, vdi: string): void {
  const type = text(db.get("VDI", vdi), "type");
  if (type === "cbt_metadata")
    throw new XapiFailure("VDI_INCOMPATIBLE_TYPE", [vdi, type]);
}

async function setTracking(
  context: CallContext,
  ref: string,
  enabled: boolean,
): Promise<void> {
  const { db, state } = context;
  const vdi = db.get("VDI", ref);
  assertTrackable(db, ref);
  assertIdle(db, "VDI", ref);
  if (flag(vdi, "cbt_enabled") === enabled) return;
  const operation = enabled ? "enable_cbt" : "disable_cbt";
  await whileBusy(context, { className: "VDI", ref }, operation, async () => {
    await context.delay(durations.diskChange);
    const uuid = text(vdi, "uuid");
    if (enabled) state.disks.enableTracking(uuid);
    else state.disks.disableTracking(uuid);
    db.update("VDI", ref, { cbt_enabled: enabled });
  });
}

/** XAPI's checks of a disk [xapi_vdi.ml check_operation_error, from memory]. */
function assertTrackable(db: Database, ref: string): void {
  const vdi = db.get("VDI", ref);
  const [type, sr] = [text(vdi, "type"), text(vdi, "SR")];
  assertPlugged(db, sr);
  if (!supportsTracking(db, sr))
    throw new XapiFailure("SR_OPERATION_NOT_SUPPORTED", [sr]);
  if (type !== "user" && type !== "system")
    throw new XapiFailure("VDI_INCOMPATIBLE_TYPE", [ref, type]);
  if (flag(vdi, "is_a_snapshot"))
    throw new XapiFailure("OPERATION_NOT_ALLOWED", [
      `VDI is a snapshot: ${ref}`,
    ]);
  if (text(vdi, "on_boot") === "reset")
    throw new XapiFailure("VDI_ON_BOOT_MODE_INCOMPATIBLE_WITH_OPERATION");
}

function supportsTracking(db: Database, sr: string): boolean {
  const type = text(db.get("SR", sr), "type");
  const drivers = [...db.records("SM")].filter(([, sm]) => sm["type"] === type);
  return drivers.some(([, sm]) =>
    Object.hasOwn(map(sm, "features"), "VDI_CONFIG_CBT"),
  );
}

function assertDataDestroyable(db: Database, ref: string): void {
  const vdi = db.get("VDI", ref);
  if (!flag(vdi, "cbt_enabled"))
    throw new XapiFailure("VDI_NO_CBT_METADATA", [ref]);
  if (!flag(vdi, "is_a_snapshot"))
    throw new XapiFailure("OPERATION_NOT_ALLOWED", [
      `VDI is not a snapshot: ${ref}`,
    ]);
  assertPlugged(db, text(vdi, "SR"));
}

/** The VBD of an NBD connection is destroyed shortly after the connection; other VBDs prevent the operation. */
async function untilWithoutVbds(
  { db, delay }: CallContext,
  ref: string,
): Promise<void> {
  for (let check = 0; refs(db.get("VDI", ref), "VBDs").length > 0; check++) {
    if (check === VBD_CHECKS)
      throw new XapiFailure("VDI_IN_USE", [ref, "data_destroy"]);
    await delay(VBD_WAIT_MS / VBD_CHECKS);
    if (isExported(db, ref))
      await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
  }
}

/** An NBD client has it open. */
function isExported(db: Database, ref: string): boolean {
  return refs(db.get("VDI", ref), "VBDs").some((vbd) => {
    const vm = db.find("VM", text(db.get("VBD", vbd), "VM"));
    return vm !== undefined && flag(vm, "is_control_domain");
  });
}

function changedBlocks(
  { db, state, random }: CallContext,
  from: string,
  to: string,
): Buffer {
  const [source, target] = [db.get("VDI", from), db.get("VDI", to)];
  if (from === to) throw changedBlocksError("Source and target VDI are same");
  const isTracked = [source, target].every((vdi) => flag(vdi, "cbt_enabled"));
  if (!isTracked) throw changedBlocksError(UNRELATED);
  try {
    const bitmap = state.disks.changedBlocks(
      text(source, "uuid"),
      text(target, "uuid"),
    );
    const omitted = state.faults.trigger("cbtOmits", "VDI.list_changed_blocks");
    hideBlocks(bitmap, omitted === true ? 1 : (omitted ?? 0), random);
    return bitmap;
  } catch (error) {
    throw error instanceof UnrelatedDisks
      ? changedBlocksError(UNRELATED)
      : error;
  }
}

const UNRELATED = "Source and target VDI are unrelated";

/** Error of the storage driver [SM's VDI.py, XE_SR_ERRORCODES.xml, from memory]. */
function changedBlocksError(reason: string): XapiFailure {
  return new XapiFailure("SR_BACKEND_FAILURE_460", [
    "",
    `Failed to calculate changed blocks for given VDIs. [opterr=${reason}]`,
    "",
  ]);
}

/** Reports `count` random changed blocks as unchanged: clears their bits. */
function hideBlocks(bitmap: Buffer, count: number, random: Random): void {
  if (count === 0) return;
  const changed: number[] = [];
  for (let bit = 0; bit < bitmap.length * 8; bit++)
    if ((bitmap[bit >> 3]! & (0x80 >> (bit & 7))) !== 0) changed.push(bit);
  for (let hidden = 0; hidden < count && changed.length > 0; hidden++) {
    const [bit] = changed.splice(random.integer(changed.length), 1);
    bitmap[bit! >> 3]! &= ~(0x80 >> (bit! & 7));
  }
}
