import type { ViewObject } from "@xo-server/inventory";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { Dated } from "./retention.js";

/** `other_config` keys that mark a snapshot as created by a job. */
const JOB = "xo:snapshot-policy";
const TIME = "xo:snapshot-policy:time";
/** Which of two snapshots is newer: clocks are set back. Absent in snapshots of earlier versions. */
const ORDER = "xo:snapshot-policy:order";
/**
 * The snapshot's own UUID. XAPI copies `other_config` to objects created from a
 * snapshot and to reverted VMs, which have another UUID.
 */
const SELF = "xo:snapshot-policy:uuid";

export interface OwnSnapshot extends Dated {
  readonly name: string;
  readonly order: number;
}

/** The snapshots of a VM that this job created. */
export function ownSnapshots(
  objects: Pick<PoolObjects, "get">,
  vm: ViewObject,
  jobId: string,
): OwnSnapshot[] {
  const ids = Array.isArray(vm["snapshots"]) ? vm["snapshots"] : [];
  return (ids as string[]).flatMap((id) => {
    const found = findSnapshot(objects, id);
    if (found === undefined || found["$snapshot_of"] !== vm["id"]) return [];
    const other = (found["other"] ?? {}) as Readonly<Record<string, unknown>>;
    if (other[JOB] !== jobId || other[SELF] !== found["uuid"]) return [];
    const time = Number(other[TIME]);
    if (!Number.isSafeInteger(time)) return [];
    const order = Number(other[ORDER] ?? time);
    return [{ id, time, order, name: String(found["name_label"]) }];
  });
}

/**
 * The order of the next snapshot after others of the same VM.
 * @param time ms since the epoch
 */
export function nextOrder(
  others: readonly Pick<OwnSnapshot, "order">[],
  time: number,
): number {
  return others.reduce((most, { order }) => Math.max(most, order + 1), time);
}

/** Undefined: it was deleted in the meantime. */
function findSnapshot(
  objects: Pick<PoolObjects, "get">,
  id: string,
): ViewObject | undefined {
  try {
    return objects.get(id, "VM-snapshot").object;
  } catch {
    return undefined;
  }
}

/** Marks a new snapshot as created by a job. */
export async function markAsOwn(
  { xapi, ref, object }: PoolObject,
  jobId: string,
  { time, order }: Pick<OwnSnapshot, "time" | "order">,
): Promise<void> {
  const marks = {
    [JOB]: jobId,
    [TIME]: String(time),
    [ORDER]: String(order),
    [SELF]: String(object["uuid"]),
  };
  for (const [key, value] of Object.entries(marks)) {
    // The VM may have the keys from a snapshot that it was reverted to.
    await xapi.call("VM.remove_from_other_config", [ref, key]);
    await xapi.call("VM.add_to_other_config", [ref, key, value]);
  }
}
