import type { CallContext, OperationTable } from "../operation.js";
import { NULL_REF } from "@xo-server/model";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { progressDuring, whileBusy } from "./busy.js";
import { durations } from "./durations.js";
import { flag, int, intParam, refIn, refs, text, textParam } from "./fields.js";
import { isInUse, refreshVdi } from "./refresh.js";
import {
  addAllocation,
  copyTime,
  duplicateVdi,
  takeSpace,
} from "./vdi-copies.js";

export const vdiOperationTable: OperationTable = {
  "VDI.create": async (context, params) => {
    const { db, random } = context;
    const record = params[0] as XapiRecord;
    const sr = text(record, "SR");
    db.get("SR", sr);
    await context.delay(durations.diskChange);
    const uuid = random.uuid();
    // Thin provisioning: an empty disk takes next to nothing.
    const taken = Math.min(int(record, "virtual_size"), 8 * 2 ** 20);
    takeSpace(context, sr, taken);
    addAllocation(context, sr, int(record, "virtual_size"));
    const vdi = db.create("VDI", {
      ...record,
      uuid,
      location: uuid,
      managed: true,
      physical_utilisation: taken,
    });
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
    removeVdi(context, ref, { freesSpace: false });
  },
  "VDI.db_forget": (context, params) => {
    removeVdi(context, textParam(params, 0), { freesSpace: false });
  },
  "VDI.snapshot": (context, params) =>
    duplicate(context, textParam(params, 0), "snapshot"),
  "VDI.clone": (context, params) =>
    duplicate(context, textParam(params, 0), "clone"),
  "VDI.copy": async (context, params) => {
    const [ref, sr, , into] = params as readonly string[];
    const vdi = context.db.get("VDI", ref!);
    return whileBusy(
      context,
      { className: "VDI", ref: ref! },
      "copy",
      async () => {
        await progressDuring(context, copyTime(vdi));
        if (into !== undefined && into !== NULL_REF) return into;
        return duplicateVdi(context, ref!, {
          isSnapshot: false,
          ...(sr === undefined || sr === NULL_REF ? {} : { sr }),
        });
      },
    );
  },
  "VDI.resize": (context, params) =>
    resize(context, textParam(params, 0), intParam(params, 1)),
  "VDI.resize_online": (context, params) =>
    resize(context, textParam(params, 0), intParam(params, 1)),
  "VDI.pool_migrate": async (context, params) => {
    const [ref, sr] = [textParam(params, 0), textParam(params, 1)];
    const { db } = context;
    const vdi = db.get("VDI", ref);
    db.get("SR", sr);
    return whileBusy(context, { className: "VDI", ref }, "mirror", async () => {
      await progressDuring(context, copyTime(vdi));
      // There already: it stays what it is.
      if (vdi["SR"] === sr) return ref;
      const moved = duplicateVdi(context, ref, { isSnapshot: false, sr });
      for (const vbd of refs(db.get("VDI", ref), "VBDs"))
        db.update("VBD", vbd, { VDI: moved });
      removeVdi(context, ref, { freesSpace: true });
      refreshVdi(db, moved);
      return moved;
    });
  },
  "VDI.update": () => undefined,
  "VDI.enable_cbt": ({ db }, params) => {
    db.update("VDI", textParam(params, 0), { cbt_enabled: true });
  },
  "VDI.disable_cbt": ({ db }, params) => {
    db.update("VDI", textParam(params, 0), { cbt_enabled: false });
  },
  "VDI.data_destroy": (context, params) => {
    const ref = textParam(params, 0);
    assertFree(context, ref, "data_destroy");
    context.db.update("VDI", ref, {
      type: "cbt_metadata",
      physical_utilisation: 0,
    });
  },
  // One bit for each 64 KiB block, in base64: nothing has changed.
  "VDI.list_changed_blocks": ({ db }, params) => {
    const size = int(db.get("VDI", textParam(params, 1)), "virtual_size");
    return Buffer.alloc(Math.min(65536, Math.ceil(size / 65536 / 8))).toString(
      "base64",
    );
  },
  "VDI.get_nbd_info": () => [],
  "VDI.generate_config": () => "",
  "VDI.revert": (context, params) => {
    const snapshot = context.db.get("VDI", textParam(params, 0));
    const vdi = refIn(snapshot, "snapshot_of");
    if (vdi === undefined)
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        "The VDI is not a snapshot",
      ]);
    assertFree(context, vdi, "revert_to");
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
  context.db.get("VDI", ref);
  return whileBusy(context, { className: "VDI", ref }, operation, async () => {
    await context.delay(durations.diskChange);
    return duplicateVdi(context, ref, { isSnapshot: operation === "snapshot" });
  });
}

async function resize(
  context: CallContext,
  ref: string,
  size: number,
): Promise<void> {
  const before = int(context.db.get("VDI", ref), "virtual_size");
  if (size < before)
    throw new XapiFailure("VDI_TOO_SMALL", [ref, String(before)]);
  if (isInUse(context.db, ref))
    throw new XapiFailure("VDI_IN_USE", [ref, "resize"]);
  await whileBusy(context, { className: "VDI", ref }, "resize", async () => {
    await context.delay(durations.diskChange);
    context.db.update("VDI", ref, { virtual_size: size });
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
  if (isInUse(db, ref)) throw new XapiFailure("VDI_IN_USE", [ref, operation]);
}

/** With the VBDs that are left of it: of a disk, they go; a CD drive is emptied. */
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
  db.destroy("VDI", ref);
  if (freesSpace) takeSpace(context, sr, -int(vdi, "physical_utilisation"));
  addAllocation(context, sr, -int(vdi, "virtual_size"));
}
