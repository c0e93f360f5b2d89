import type { CallContext } from "../../operation.js";
import { int } from "../../records/fields.js";
import { XapiFailure } from "../../xapi-failure.js";

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
