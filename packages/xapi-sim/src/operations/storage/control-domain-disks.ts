import type { Database } from "../../database.js";
import { refs, text } from "../../records/fields.js";
import { refreshVdi } from "../effects/refresh.js";

/**
 * Attaches a disk to a host's control domain, as XAPI does while it reads or writes it: it cannot
 * be destroyed meanwhile.
 * @returns the VBD, for `detachFromControlDomain`
 */
export function attachToControlDomain(
  db: Database,
  host: string,
  { vdi, mode }: { readonly vdi: string; readonly mode: "RO" | "RW" },
): string {
  const VM = text(db.get("host", host), "control_domain");
  const userdevice = freeDevice(db, VM);
  const vbd = db.create("VBD", {
    VM,
    VDI: vdi,
    userdevice,
    device: `sm/backend/nbd/${userdevice}`,
    mode,
    type: "Disk",
    bootable: false,
    unpluggable: true,
    empty: false,
    currently_attached: true,
  });
  refreshVdi(db, vdi);
  return vbd;
}

/** Removes the VBD of `attachToControlDomain`; no error if it no longer exists. */
export function detachFromControlDomain(db: Database, vbd: string): void {
  const record = db.find("VBD", vbd);
  if (record === undefined) return;
  db.destroy("VBD", vbd);
  refreshVdi(db, text(record, "VDI"));
}

/** Runs `work` with disks attached. */
export async function withAttached<T>(
  db: Database,
  host: string,
  disks: readonly { readonly vdi: string; readonly mode: "RO" | "RW" }[],
  work: () => Promise<T>,
): Promise<T> {
  const vbds = disks.map((disk) => attachToControlDomain(db, host, disk));
  try {
    return await work();
  } finally {
    for (const vbd of vbds) detachFromControlDomain(db, vbd);
  }
}

function freeDevice(db: Database, vm: string): string {
  const taken = refs(db.get("VM", vm), "VBDs").map((ref) =>
    text(db.get("VBD", ref), "userdevice"),
  );
  let device = 0;
  while (taken.includes(String(device))) device++;
  return String(device);
}
