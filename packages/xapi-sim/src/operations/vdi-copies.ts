import { NULL_REF } from "@xo-server/model";
import { toDatetime } from "../clock.js";
import type { CallContext } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiRecord } from "../xapi-value.js";
import { durations } from "./durations.js";
import { int, map, text } from "../records/fields.js";
import { refreshVdi } from "./refresh.js";
import { isThick, takenByNew } from "./sr-checks.js";

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
  const size =
    sr === undefined
      ? sharedSize(context, vdi)
      : int(vdi, "physical_utilisation");
  takeSpace(context, sr ?? text(vdi, "SR"), size);
  addAllocation(context, sr ?? text(vdi, "SR"), int(vdi, "virtual_size"));
  const copy = db.create("VDI", {
    ...vdi,
    uuid,
    location: uuid,
    physical_utilisation: size,
    SR: sr ?? text(vdi, "SR"),
    VBDs: [],
    crash_dumps: [],
    snapshots: [],
    current_operations: {},
    sm_config: map(vdi, "sm_config"),
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

/** Bytes that a snapshot or clone takes, which shares what is there; block storage allocates all of it. */
function sharedSize({ db }: CallContext, vdi: XapiRecord): number {
  const sr = text(vdi, "SR");
  return isThick(db, sr)
    ? int(vdi, "physical_utilisation")
    : takenByNew(db, sr, int(vdi, "virtual_size"));
}

/** @throws XapiFailure SR_FULL */
export function takeSpace(
  { db }: Pick<CallContext, "db">,
  sr: string,
  bytes: number,
): void {
  const record = db.get("SR", sr);
  const used = int(record, "physical_utilisation");
  const size = int(record, "physical_size");
  if (bytes > 0 && size > 0 && used + bytes > size)
    throw new XapiFailure("SR_FULL", [
      String(bytes),
      String(Math.max(0, size - used)),
    ]);
  db.update("SR", sr, { physical_utilisation: Math.max(0, used + bytes) });
}

/** Changes the virtual allocation of an SR by this many bytes. */
export function addAllocation(
  { db }: Pick<CallContext, "db">,
  sr: string,
  bytes: number,
): void {
  const before = int(db.get("SR", sr), "virtual_allocation");
  db.update("SR", sr, { virtual_allocation: Math.max(0, before + bytes) });
}
