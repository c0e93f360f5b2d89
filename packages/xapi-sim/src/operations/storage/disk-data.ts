import type { PoolData } from "../../pool-state.js";
import { int, refs, text } from "../../records/fields.js";
import { isThick } from "./sr-checks.js";

/** The contents of a disk are deleted; those of its snapshots stay what they are. */
export function deleteContents({ db, state }: PoolData, vdi: string): void {
  const record = db.get("VDI", vdi);
  materializeSnapshots({ db, state }, vdi);
  state.disks.remove(text(record, "uuid"));
}

/** Initial contents of snapshots come from their disk: after this they do not depend on it. */
export function materializeSnapshots(
  { db, state }: PoolData,
  vdi: string,
): void {
  for (const ref of refs(db.get("VDI", vdi), "snapshots")) {
    const snapshot = db.find("VDI", ref);
    if (snapshot !== undefined) state.disks.open(text(snapshot, "uuid"));
  }
}

/**
 * What was written to a disk since this was last called is added to its physical utilisation and
 * its SR's. On thick SRs the whole disk is allocated already.
 */
export function reportGrowth({ db, state }: PoolData, vdi: string): void {
  const record = db.find("VDI", vdi);
  if (record === undefined) return;
  const growth = state.disks.takeGrowth(text(record, "uuid"));
  const sr = text(record, "SR");
  if (growth === 0 || db.find("SR", sr) === undefined || isThick(db, sr))
    return;
  const before = int(record, "physical_utilisation");
  const after = Math.max(0, before + growth);
  const used = int(db.get("SR", sr), "physical_utilisation");
  db.update("VDI", vdi, { physical_utilisation: after });
  db.update("SR", sr, {
    physical_utilisation: Math.max(0, used + after - before),
  });
}
