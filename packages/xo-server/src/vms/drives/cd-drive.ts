import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../../objects/pool-objects.js";
import type { Rollback } from "../rollback.js";
import { createVbd } from "./new-vbds.js";
import { isRunning, readVbds, readRecord } from "../xapi-records.js";

/** The device where guests expect a CD. */
const USUAL_POSITION = "3";

interface InsertOptions {
  /** Whether an inserted image is ejected. */
  readonly force: boolean;
  /** Removes a CD drive that had to be added. */
  readonly rollback: Rollback;
}

/**
 * Inserts an image into the VM's CD drive, which is added if it has none.
 * @throws XapiError VBD_NOT_EMPTY
 */
export async function insertCd(
  { xapi, ref: vm }: Pick<PoolObject, "xapi" | "ref">,
  image: Ref,
  { force, rollback }: InsertOptions,
): Promise<void> {
  const record = await readRecord(xapi, "VM", vm);
  const vbds = await readVbds(xapi, record.VBDs);
  const vbd = vbds.find(({ type }) => type === "CD");
  if (vbd === undefined) {
    const vbd = await addCdVbd(xapi, vm, image);
    rollback.add(`VBD ${vbd}`, (pool) => pool.callAsync("VBD.destroy", [vbd]));
    if (isRunning(record)) await xapi.callAsync("VBD.plug", [vbd]);
    return;
  }
  if (vbd.VDI === image) return;
  if (force && !vbd.empty) await eject(xapi, vbd.ref);
  await xapi.callAsync("VBD.insert", [vbd.ref, image]);
}

async function addCdVbd(xapi: Xapi, vm: Ref, vdi: Ref): Promise<Ref> {
  const devices = await xapi.call("VM.get_allowed_VBD_devices", [vm]);
  const free = devices as readonly string[];
  const position = free.includes(USUAL_POSITION) ? USUAL_POSITION : free[0];
  return createVbd(xapi, { vm, vdi, type: "CD", bootable: true, position });
}

/** A VM without an inserted CD is already in the requested state. */
export async function ejectCd(xapi: Xapi, vm: Ref): Promise<void> {
  const { VBDs } = await readRecord(xapi, "VM", vm);
  const vbds = await readVbds(xapi, VBDs);
  for (const { type, empty, ref } of vbds)
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
