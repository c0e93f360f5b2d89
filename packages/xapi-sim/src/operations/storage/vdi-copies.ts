import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../../clock.js";
import type { CallContext } from "../../operation.js";
import type { XapiRecord } from "../../xapi-value.js";
import { branch, EMPTY_FILE, hasChains, linked } from "./disk-chains.js";
import { durations } from "../effects/durations.js";
import { int, map, text } from "../../records/fields.js";
import { refreshVdi } from "../effects/refresh.js";
import { addAllocation, takeSpace } from "./sr-space.js";
import { isThick } from "./sr-checks.js";

/** Milliseconds that a full copy of a disk takes here. */
export function copyTime(vdi: XapiRecord): number {
  return Math.min(
    durations.copyLimit,
    (int(vdi, "virtual_size") / 2 ** 30) * durations.copyPerGiB,
  );
}

/** Another disk with the same contents: a snapshot of it, or a disk in its own right (in `sr` where given). */
export function duplicateVdi(
  context: CallContext,
  source: string,
  { isSnapshot, sr }: { readonly isSnapshot: boolean; readonly sr?: string },
): string {
  const { db, clock, random } = context;
  const vdi = db.get("VDI", source);
  const uuid = random.uuid();
  const target = sr ?? text(vdi, "SR");
  // A full copy, to another SR or not, has no parent.
  const parent =
    sr === undefined && hasChains(db, target) ? branch(context, source) : "";
  const physical_utilisation =
    sr === undefined
      ? sharedSize(context, vdi, isSnapshot)
      : int(vdi, "physical_utilisation");
  takeSpace(context, target, physical_utilisation);
  addAllocation(context, target, int(vdi, "virtual_size"));
  const copy = db.create("VDI", {
    ...vdi,
    uuid,
    location: uuid,
    SR: target,
    physical_utilisation,
    VBDs: [],
    crash_dumps: [],
    snapshots: [],
    current_operations: {},
    sm_config: linked(map(vdi, "sm_config"), parent),
    is_a_snapshot: isSnapshot,
    snapshot_of: isSnapshot ? source : NULL_REF,
    snapshot_time: isSnapshot ? toDatetime(clock.now()) : "19700101T00:00:00Z",
    cbt_enabled: isSnapshot && vdi["cbt_enabled"] === true,
  });
  const { disks } = context.state;
  if (isSnapshot) disks.snapshot(text(vdi, "uuid"), uuid);
  else disks.clone(text(vdi, "uuid"), uuid);
  refreshVdi(db, copy);
  return copy;
}

/** Bytes that a snapshot or clone takes, which shares what is there; block storage allocates all of a clone. */
function sharedSize(
  { db }: CallContext,
  vdi: XapiRecord,
  isSnapshot: boolean,
): number {
  const size = int(vdi, "virtual_size");
  const isWhole = isThick(db, text(vdi, "SR")) && !isSnapshot;
  return isWhole ? size : Math.min(size, EMPTY_FILE);
}
