import type { Database } from "../../database.js";
import type { CallContext } from "../../operation.js";
import {
  flag,
  int,
  map,
  refs,
  text,
  textIn,
  without,
} from "../../records/fields.js";
import type { XapiRecord } from "../../xapi-value.js";
import { durations } from "../effects/durations.js";
import { refreshVdi } from "../effects/refresh.js";
import { addAllocation, takeSpace } from "./sr-space.js";
import { backendFailure, isThick } from "./sr-checks.js";

/*
 * Chains of VHD files as their storage drivers show them: `sm_config["vhd-parent"]` of a disk is
 * the uuid of a hidden disk, a base copy, with what disk and snapshot have in common. A base copy
 * with one child is merged with it some time after the other is deleted [SM's cleanup.py, from memory].
 */

/** Files of a chain at most [SM's vhdutil.py MAX_CHAIN_SIZE, from memory]. */
const LONGEST = 30;
/** Bytes of a file that has nothing that its parent has not. */
export const EMPTY_FILE = 2 * 2 ** 20;
const PARENT = "vhd-parent";

const vhdDrivers: ReadonlySet<string> = new Set([
  "ext",
  "nfs",
  "smb",
  "lvm",
  "lvmoiscsi",
  "lvmohba",
]);

/** Whether snapshots and clones on this SR share files. */
export function hasChains(db: Database, sr: string): boolean {
  return vhdDrivers.has(text(db.get("SR", sr), "type"));
}

/**
 * Makes room for another disk beside this one: what they have in common becomes a base copy.
 * A disk that has nothing of its own has it already.
 * @returns the uuid of the base copy
 * @throws XapiFailure SR_FULL, SR_BACKEND_FAILURE_109: the chain is too long
 */
export function branch(context: CallContext, ref: string): string {
  const { db, random } = context;
  const vdi = db.get("VDI", ref);
  const sr = text(vdi, "SR");
  const parent = parentUuid(vdi);
  const isOwnEmpty =
    flag(vdi, "is_a_snapshot") ||
    !context.state.disks.isWritten(text(vdi, "uuid"));
  if (isOwnEmpty && parent !== "") return parent;
  if (chainLength(db, vdi) >= LONGEST)
    throw backendFailure(109, "The snapshot chain is too long");
  const size = int(vdi, "virtual_size");
  const own = isThick(db, sr) ? size : Math.min(size, EMPTY_FILE);
  const shared = sharedBytes(context, vdi);
  const before = int(vdi, "physical_utilisation");
  takeSpace(context, sr, own + shared - before);
  addAllocation(context, sr, size);
  const uuid = random.uuid();
  const base = db.create("VDI", {
    uuid,
    location: uuid,
    name_label: "base copy",
    SR: sr,
    type: "user",
    managed: false,
    read_only: true,
    virtual_size: size,
    physical_utilisation: shared,
    sm_config: linked({ vdi_type: "vhd" }, parent),
  });
  refreshVdi(db, base);
  db.update("VDI", ref, {
    physical_utilisation: own,
    sm_config: linked(map(vdi, "sm_config"), uuid),
  });
  return uuid;
}

/** Bytes of the base copy: block storage frees what has no data. */
function sharedBytes({ db, state }: CallContext, vdi: XapiRecord): number {
  if (!isThick(db, text(vdi, "SR"))) return int(vdi, "physical_utilisation");
  return state.disks
    .extents(text(vdi, "uuid"))
    .reduce((sum, { kind, length }) => sum + (kind === "data" ? length : 0), 0);
}

/** A storage configuration with another parent; empty: none. */
export function linked(config: XapiRecord, parent: string): XapiRecord {
  const rest = without(config, PARENT);
  return parent === "" ? rest : { ...rest, [PARENT]: parent };
}

/** Schedules the coalescing of the base copy of a deleted disk. */
export function coalesceAfterDelete(
  context: CallContext,
  removed: XapiRecord,
): void {
  const base = context.db.byUuid("VDI", parentUuid(removed));
  if (base !== undefined) mergeLater(context, base);
}

/** A scan continues merges that waited while merging was switched off. */
export function resumeMerging(context: CallContext, sr: string): void {
  for (const base of [...context.state.mergingDisks])
    if (context.db.find("VDI", base)?.["SR"] === sr) mergeLater(context, base);
}

function mergeLater(context: CallContext, base: string): void {
  context.state.mergingDisks.add(base);
  context.pool.later(durations.coalesce, () => merge(context, base));
}

function merge(context: CallContext, base: string): void {
  const { db, state } = context;
  const record = db.find("VDI", base);
  if (record !== undefined && !mayMerge(db, text(record, "SR"))) return;
  state.mergingDisks.delete(base);
  if (record === undefined || flag(record, "managed")) return;
  const [child, ...others] = childrenOf(db, record);
  if (others.length > 0) return;
  if (child === undefined) {
    dropBaseCopy(context, base);
    coalesceAfterDelete(context, record);
  } else if (flag(db.get("VDI", child), "managed"))
    mergeIntoLeaf(context, base, child);
  else mergeIntoBase(context, base, child);
}

/** The keys by which administrators switch it off. */
function mayMerge(db: Database, sr: string): boolean {
  const { other_config } = db.get("SR", sr);
  return ["gc", "coalesce"].every(
    (key) => textIn(other_config as XapiRecord, key) !== "false",
  );
}

/** The disk has everything now. */
function mergeIntoLeaf(context: CallContext, base: string, leaf: string): void {
  const { db } = context;
  const [lower, upper] = [db.get("VDI", base), db.get("VDI", leaf)];
  const sr = text(upper, "SR");
  const isWhole = isThick(db, sr) && !flag(upper, "is_a_snapshot");
  dropBaseCopy(context, base);
  setUtilisation(
    context,
    leaf,
    isWhole ? int(upper, "virtual_size") : bothSizes(lower, upper),
  );
  db.update("VDI", leaf, {
    sm_config: linked(map(upper, "sm_config"), parentUuid(lower)),
  });
}

/** Merges a base copy into the one below it. */
function mergeIntoBase(
  context: CallContext,
  base: string,
  child: string,
): void {
  const { db } = context;
  const [lower, upper] = [db.get("VDI", base), db.get("VDI", child)];
  const above = childrenOf(db, upper);
  dropBaseCopy(context, child);
  setUtilisation(context, base, bothSizes(lower, upper));
  for (const disk of above) {
    const config = map(db.get("VDI", disk), "sm_config");
    db.update("VDI", disk, { sm_config: linked(config, text(lower, "uuid")) });
  }
  // Its other disk may be deleted as well by now.
  mergeLater(context, base);
}

/** Upper bound of the merged size: the overlap of the two files is not known. */
function bothSizes(lower: XapiRecord, upper: XapiRecord): number {
  const [one, other] = [lower, upper].map((record) =>
    int(record, "physical_utilisation"),
  );
  return Math.min(int(upper, "virtual_size"), one! + other!);
}

function setUtilisation(
  context: CallContext,
  ref: string,
  physical_utilisation: number,
): void {
  const { db } = context;
  const { SR, physical_utilisation: before } = db.get("VDI", ref);
  // Merging may need more than is free for a moment; SM does not begin then.
  takeSpace(
    context,
    SR as string,
    Math.min(0, physical_utilisation - Number(before)),
  );
  const used = int(db.get("SR", SR as string), "physical_utilisation");
  const more = Math.max(0, physical_utilisation - Number(before));
  db.update("SR", SR as string, { physical_utilisation: used + more });
  db.update("VDI", ref, { physical_utilisation });
}

function dropBaseCopy(context: CallContext, base: string): void {
  const { db, state } = context;
  const record = db.get("VDI", base);
  const sr = text(record, "SR");
  state.disks.remove(text(record, "uuid"));
  state.mergingDisks.delete(base);
  db.destroy("VDI", base);
  takeSpace(context, sr, -int(record, "physical_utilisation"));
  addAllocation(context, sr, -int(record, "virtual_size"));
}

function childrenOf(db: Database, vdi: XapiRecord): readonly string[] {
  const uuid = text(vdi, "uuid");
  return refs(db.get("SR", text(vdi, "SR")), "VDIs").filter(
    (ref) => parentUuid(db.get("VDI", ref)) === uuid,
  );
}

/** Files of a disk: its own, and those of the base copies below. */
function chainLength(db: Database, vdi: XapiRecord): number {
  let length = 1;
  for (
    let below = db.byUuid("VDI", parentUuid(vdi));
    below !== undefined;
    below = db.byUuid("VDI", parentUuid(db.get("VDI", below)))
  )
    length++;
  return length;
}

/** uuid of the base copy; empty: none. */
function parentUuid(vdi: XapiRecord): string {
  return textIn(map(vdi, "sm_config"), PARENT);
}
