import { NULL_REF } from "@xo-server/model";
import type { Database } from "../../database.js";
import type { OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { badPowerState } from "../effects/failures.js";
import { mapParam, refs, text, textParam } from "../../records/fields.js";
import { refreshVm } from "../effects/refresh.js";

/** Virtual GPUs and USB devices of halted VMs. Codes from memory but those of a test. */
export const vmDeviceOperations: OperationTable = {
  "VGPU.create": ({ db }, params) => {
    const [vm, group, device, , type] = params as readonly string[];
    db.get("VM", vm!);
    db.get("GPU_group", group!);
    if (type !== NULL_REF) db.get("VGPU_type", type!);
    assertHalted(db, vm!);
    if (device !== "0") throw new XapiFailure("INVALID_DEVICE", [device!]);
    for (const other of refs(db.get("VM", vm!), "VGPUs"))
      if (text(db.get("VGPU", other), "device") === device)
        throw new XapiFailure("DEVICE_ALREADY_EXISTS", [device]);
    return db.create("VGPU", {
      VM: vm!,
      GPU_group: group!,
      device,
      other_config: mapParam(params, 3),
      type: type!,
    });
  },
  "VGPU.destroy": ({ db }, params) => destroyDevice(db, "VGPU", params),
  "GPU_group.create": ({ db }, params) => db.create("GPU_group", named(params)),
  "GPU_group.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const { PGPUs, VGPUs } = db.get("GPU_group", ref);
    for (const [members, code] of [
      [PGPUs, "GPU_GROUP_CONTAINS_PGPU"],
      [VGPUs, "GPU_GROUP_CONTAINS_VGPU"],
    ] as const)
      if ((members as readonly string[]).length > 0)
        throw new XapiFailure(code, members as readonly string[]);
    db.destroy("GPU_group", ref);
  },
  "USB_group.create": ({ db }, params) => db.create("USB_group", named(params)),
  "USB_group.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    const { PUSBs, VUSBs } = db.get("USB_group", ref);
    for (const [members, code] of [
      [PUSBs, "USB_GROUP_CONTAINS_PUSB"],
      [VUSBs, "USB_GROUP_CONTAINS_VUSB"],
    ] as const)
      if ((members as readonly string[]).length > 0)
        throw new XapiFailure(code, members as readonly string[]);
    db.destroy("USB_group", ref);
  },
  "VUSB.create": ({ db }, params) => {
    const [vm, group] = params as readonly string[];
    db.get("VM", vm!);
    const { VUSBs } = db.get("USB_group", group!);
    assertHalted(db, vm!);
    if ((VUSBs as readonly string[]).length > 0)
      throw new XapiFailure("USB_GROUP_CONFLICT", [group!]);
    return db.create("VUSB", {
      VM: vm!,
      USB_group: group!,
      other_config: mapParam(params, 2),
      allowed_operations: ["attach"],
    });
  },
  "VUSB.unplug": ({ db }, params) => {
    const ref = textParam(params, 0);
    if (db.get("VUSB", ref)["currently_attached"] !== true)
      throw new XapiFailure("DEVICE_ALREADY_DETACHED", [ref]);
    db.update("VUSB", ref, { currently_attached: false });
  },
  "VUSB.destroy": ({ db }, params) => destroyDevice(db, "VUSB", params),
};

/** @throws XapiFailure VM_BAD_POWER_STATE */
function assertHalted(db: Database, vm: string): void {
  const state = text(db.get("VM", vm), "power_state");
  if (state !== "Halted") throw badPowerState(vm, ["Halted"], state);
}

function destroyDevice(
  db: Database,
  className: "VGPU" | "VUSB",
  params: Parameters<OperationTable[string]>[1],
): void {
  const ref = textParam(params, 0);
  const vm = text(db.get(className, ref), "VM");
  if (db.find("VM", vm) !== undefined) assertHalted(db, vm);
  db.destroy(className, ref);
  refreshVm(db, vm);
}

/** (name_label, name_description, other_config) */
function named(params: Parameters<OperationTable[string]>[1]) {
  return {
    name_label: textParam(params, 0),
    name_description: textParam(params, 1),
    other_config: mapParam(params, 2),
  };
}
