import { NULL_REF } from "@xo-server/model";
import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { badPowerState } from "../effects/failures.js";
import { flag, refs, text, textParam } from "../../records/fields.js";
import { hasAgentOrIsPv, refreshVbd, refreshVdi } from "../effects/refresh.js";
import { assertIdle } from "./sr-checks.js";
import { deviceOf } from "../../records/device-names.js";

export const vbdOperationTable: OperationTable = {
  "VBD.create": ({ db }, params) => {
    const record = params[0] as XapiRecord;
    assertFits(db, record);
    const metrics = db.create("VBD_metrics", {});
    const empty = flag(record, "empty");
    const vbd = db.create("VBD", {
      ...record,
      ...(empty ? { VDI: NULL_REF } : {}),
      userdevice: placeFor(db, record),
      metrics,
      currently_attached: false,
    });
    refreshVbd(db, vbd);
    return vbd;
  },
  "VBD.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const vbd = db.get("VBD", ref);
    if (flag(vbd, "currently_attached"))
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        `VBD '${text(vbd, "uuid")}' still attached to '${text(db.get("VM", text(vbd, "VM")), "uuid")}'`,
      ]);
    db.destroy("VBD", ref);
    const metrics = text(vbd, "metrics");
    if (db.find("VBD_metrics", metrics) !== undefined)
      db.destroy("VBD_metrics", metrics);
    refreshVdi(db, text(vbd, "VDI"));
  },
  "VBD.plug": async (context, params) => {
    const ref = textParam(params, 0);
    const vbd = context.db.get("VBD", ref);
    assertRuns(context, vbd);
    if (flag(vbd, "currently_attached"))
      throw new XapiFailure("DEVICE_ALREADY_ATTACHED", [ref]);
    assertHotPlugs(context, vbd);
    if (flag(vbd, "empty")) throw new XapiFailure("VBD_IS_EMPTY", [ref]);
    assertIdle(context.db, "VBD", ref);
    assertNotOpen(context.db, ref);
    await whileBusy(context, { className: "VBD", ref }, "plug", async () => {
      await context.delay(durations.plug);
      attach(context, ref, true);
    });
  },
  "VBD.unplug": unplug,
  "VBD.unplug_force": unplug,
  "VBD.unplug_force_no_safety_check": unplug,
  "VBD.assert_attachable": ({ db }, params) => {
    assertNotOpen(db, textParam(params, 0));
  },
  "VBD.insert": async (context, params) => {
    const [ref, vdi] = [textParam(params, 0), textParam(params, 1)];
    const vbd = context.db.get("VBD", ref);
    assertRemovable(vbd, ref);
    if (!flag(vbd, "empty")) throw new XapiFailure("VBD_NOT_EMPTY", [ref]);
    // Any disk may be inserted, not only images.
    context.db.get("VDI", vdi);
    assertIdle(context.db, "VBD", ref);
    await whileBusy(context, { className: "VBD", ref }, "insert", () =>
      context.delay(durations.plug),
    );
    const live =
      text(context.db.get("VM", text(vbd, "VM")), "power_state") === "Running";
    context.db.update("VBD", ref, {
      VDI: vdi,
      empty: false,
      currently_attached: live,
    });
    refreshVbd(context.db, ref);
  },
  "VBD.eject": async (context, params) => {
    const ref = textParam(params, 0);
    const vbd = context.db.get("VBD", ref);
    assertRemovable(vbd, ref);
    if (flag(vbd, "empty")) throw new XapiFailure("VBD_IS_EMPTY", [ref]);
    assertIdle(context.db, "VBD", ref);
    await whileBusy(context, { className: "VBD", ref }, "eject", () =>
      context.delay(durations.plug),
    );
    context.db.update("VBD", ref, {
      VDI: NULL_REF,
      empty: true,
      currently_attached: false,
    });
    refreshVbd(context.db, ref);
    refreshVdi(context.db, text(vbd, "VDI"));
  },
};

async function unplug(
  context: CallContext,
  params: Parameters<OperationTable[string]>[1],
): Promise<void> {
  const ref = textParam(params, 0);
  const vbd = context.db.get("VBD", ref);
  assertRuns(context, vbd);
  if (!flag(vbd, "currently_attached"))
    throw new XapiFailure("DEVICE_ALREADY_DETACHED", [ref]);
  assertHotPlugs(context, vbd);
  if (text(vbd, "type") === "Disk" && !flag(vbd, "unpluggable"))
    throw new XapiFailure("VBD_NOT_UNPLUGGABLE", [ref]);
  assertIdle(context.db, "VBD", ref);
  await whileBusy(context, { className: "VBD", ref }, "unplug", async () => {
    await context.delay(durations.plug);
    attach(context, ref, false);
  });
}

function attach({ db }: CallContext, ref: string, attached: boolean): void {
  const vbd = db.get("VBD", ref);
  db.update("VBD", ref, {
    currently_attached: attached,
    device: attached ? deviceOf(vbd) : "",
  });
  refreshVbd(db, ref);
}

type DbContext = Pick<CallContext, "db">;

/** @throws XapiFailure VM_BAD_POWER_STATE: devices are plugged and unplugged while the VM runs */
export function assertRuns({ db }: DbContext, device: XapiRecord): void {
  const vm = text(device, "VM");
  const state = text(db.get("VM", vm), "power_state");
  if (state !== "Running") throw badPowerState(vm, ["Running"], state);
}

/** @throws XapiFailure VM_MISSING_PV_DRIVERS: an HVM guest needs guest tools for it */
export function assertHotPlugs({ db }: DbContext, device: XapiRecord): void {
  const vm = text(device, "VM");
  if (!hasAgentOrIsPv(db, vm))
    throw new XapiFailure("VM_MISSING_PV_DRIVERS", [vm]);
}

function assertRemovable(vbd: XapiRecord, ref: string): void {
  if (text(vbd, "type") !== "CD")
    throw new XapiFailure("VBD_NOT_REMOVABLE_MEDIA", [ref]);
}

/** One VM at a time writes to a disk, unless it is made to be shared. */
export function assertNotOpen(db: CallContext["db"], ref: string): void {
  const vbd = db.get("VBD", ref);
  const disk = db.find("VDI", text(vbd, "VDI"));
  if (disk === undefined || flag(disk, "sharable")) return;
  const open = refs(disk, "VBDs").some((other) => {
    const record = db.get("VBD", other);
    const writes = text(record, "mode") === "RW" || text(vbd, "mode") === "RW";
    return other !== ref && flag(record, "currently_attached") && writes;
  });
  if (open) throw new XapiFailure("VDI_IN_USE", [text(vbd, "VDI"), "attach"]);
}

function assertFits(db: CallContext["db"], record: XapiRecord): void {
  const vm = db.get("VM", text(record, "VM"));
  const vdi = text(record, "VDI");
  if (flag(record, "empty")) {
    if (text(record, "type") === "Disk")
      throw new XapiFailure("VBD_NOT_REMOVABLE_MEDIA", ["in constructor"]);
  } else if (
    flag(db.get("VDI", vdi), "read_only") &&
    text(record, "mode") === "RW"
  )
    throw new XapiFailure("VDI_READONLY", [vdi]);
  if (text(record, "type") === "CD" && text(record, "mode") !== "RO")
    throw new XapiFailure("VBD_CDS_MUST_BE_READONLY");
  const device = text(record, "userdevice");
  if (!DEVICE.test(device)) throw new XapiFailure("INVALID_DEVICE", [device]);
  for (const ref of refs(vm, "VBDs"))
    if (
      device !== "autodetect" &&
      text(db.get("VBD", ref), "userdevice") === device
    )
      throw new XapiFailure("DEVICE_ALREADY_EXISTS", [device]);
}

/** A number, a Linux device name, or a request for a free one. */
const DEVICE = /^(|autodetect|\d+|(xvd|hd|sd)[a-z]{1,2}\d*)$/;

/** `autodetect` takes the first free device. */
function placeFor(db: CallContext["db"], record: XapiRecord): string {
  const requested = text(record, "userdevice");
  if (requested !== "autodetect" && requested !== "") return requested;
  const taken = new Set(
    refs(db.get("VM", text(record, "VM")), "VBDs").map((ref) =>
      text(db.get("VBD", ref), "userdevice"),
    ),
  );
  let device = 0;
  while (taken.has(String(device))) device++;
  return String(device);
}
