import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../objects/pool-objects.js";
import type { Rollback } from "./rollback.js";
import { createDrive } from "./new-drives.js";
import { isRunning, readDrives, readRecord } from "./xapi-records.js";

/** The device where guests expect a CD. */
const USUAL_POSITION = "3";

export interface InsertOptions {
  /** Throws out what is in it. */
  readonly force: boolean;
  /** A drive that had to be added. */
  readonly made: Rollback;
}

/**
 * Inserts an image into the VM's CD drive, which is added if it has none.
 * @throws XapiError VBD_NOT_EMPTY
 */
export async function insertCd(
  { xapi, ref: vm }: Pick<PoolObject, "xapi" | "ref">,
  image: Ref,
  { force, made }: InsertOptions,
): Promise<void> {
  const record = await readRecord(xapi, "VM", vm);
  const drives = await readDrives(xapi, record.VBDs);
  const drive = drives.find(({ type }) => type === "CD");
  if (drive === undefined) {
    const vbd = await addDrive(xapi, vm, image);
    made.add(`VBD ${vbd}`, (pool) => pool.callAsync("VBD.destroy", [vbd]));
    if (isRunning(record)) await xapi.callAsync("VBD.plug", [vbd]);
    return;
  }
  if (drive.VDI === image) return;
  if (force && !drive.empty) await eject(xapi, drive.ref);
  await xapi.callAsync("VBD.insert", [drive.ref, image]);
}

async function addDrive(xapi: Xapi, vm: Ref, vdi: Ref): Promise<Ref> {
  const devices = await xapi.call("VM.get_allowed_VBD_devices", [vm]);
  const free = devices as readonly string[];
  const position = free.includes(USUAL_POSITION) ? USUAL_POSITION : free[0];
  return createDrive(xapi, { vm, vdi, type: "CD", bootable: true, position });
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
