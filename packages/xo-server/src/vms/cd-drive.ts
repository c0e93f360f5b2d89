import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { createDrive } from "./new-drives.js";
import { isRunning, readDrives, readRecord } from "./xapi-records.js";

/** Where guests look for a CD first. */
const USUAL_POSITION = "3";

/**
 * Puts an image into the VM's CD drive, which is added where it has none.
 * @param force throws out what is in it
 * @throws XapiError VBD_NOT_EMPTY
 */
export async function insertCd(
  xapi: Xapi,
  vm: Ref,
  image: Ref,
  force: boolean,
): Promise<void> {
  const record = await readRecord(xapi, "VM", vm);
  const drives = await readDrives(xapi, record.VBDs);
  const drive = drives.find(({ type }) => type === "CD");
  if (drive === undefined) {
    const free = (await xapi.call("VM.get_allowed_VBD_devices", [
      vm,
    ])) as string[];
    const position = free.includes(USUAL_POSITION) ? USUAL_POSITION : free[0];
    const vdi = image;
    const added = { vm, vdi, type: "CD", bootable: true, position } as const;
    const vbd = await createDrive(xapi, added);
    if (isRunning(record)) await xapi.callAsync("VBD.plug", [vbd]);
    return;
  }
  if (drive.VDI === image) return;
  if (force && !drive.empty) await eject(xapi, drive.ref);
  await xapi.callAsync("VBD.insert", [drive.ref, image]);
}

/** A VM without a CD is as it should be. */
export async function ejectCd(xapi: Xapi, vm: Ref): Promise<void> {
  const { VBDs } = await readRecord(xapi, "VM", vm);
  const drives = await readDrives(xapi, VBDs);
  for (const { type, empty, ref } of drives)
    if (type === "CD" && !empty) await eject(xapi, ref);
}

async function eject(xapi: Xapi, vbd: Ref): Promise<void> {
  try {
    await xapi.callAsync("VBD.eject", [vbd]);
  } catch (error) {
    const isDone = error instanceof XapiError && error.code === "VBD_IS_EMPTY";
    if (!isDone) throw error;
  }
}
