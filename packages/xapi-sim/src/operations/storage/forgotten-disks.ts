import type { CallContext, OperationTable } from "../../operation.js";
import type { PoolData } from "../../pool-state.js";
import { mapParam, text, textParam, without } from "../../records/fields.js";
import { internalError } from "../../xapi-failure.js";
import type { XapiRecord } from "../../xapi-value.js";
import { materializeSnapshots } from "./disk-data.js";
import { refreshVdi } from "../effects/refresh.js";
import { assertPlugged } from "./sr-checks.js";
import { addAllocation } from "./sr-space.js";

/** A disk that is forgotten stays on its SR: it can be introduced, and a scan finds it. */
export const forgottenDiskOperations: OperationTable = {
  "VDI.introduce": (context, params) => {
    const [sr, location] = [textParam(params, 3), textParam(params, 8)];
    assertPlugged(context.db, sr);
    const record = context.state.forgottenDisks.get(location);
    if (record === undefined || record["SR"] !== sr)
      throw internalError(
        `Storage_error ([S(Vdi_does_not_exist);S(${location})])`,
      );
    return restore(context, {
      ...record,
      name_label: textParam(params, 1),
      name_description: textParam(params, 2),
      other_config: mapParam(params, 7),
    });
  },
};

/** Remembers a disk that leaves the database. */
export function recordForgottenDisk(
  { db, state }: PoolData,
  vdi: string,
): void {
  const record = db.get("VDI", vdi);
  materializeSnapshots({ db, state }, vdi);
  state.disks.open(text(record, "uuid"));
  state.forgottenDisks.set(text(record, "location"), {
    ...without(record, "snapshots"),
    VBDs: [],
    current_operations: {},
  });
}

/** Disks of an SR that a scan finds are in the database again. */
export function findDisks(context: CallContext, sr: string): void {
  for (const record of [...context.state.forgottenDisks.values()])
    if (record["SR"] === sr) restore(context, record);
}

function restore(context: CallContext, record: XapiRecord): string {
  context.state.forgottenDisks.delete(text(record, "location"));
  const vdi = context.db.create("VDI", record);
  addAllocation(context, text(record, "SR"), Number(record["virtual_size"]));
  refreshVdi(context.db, vdi);
  return vdi;
}
