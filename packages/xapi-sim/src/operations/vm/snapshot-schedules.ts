import { toDatetime } from "../../clock.js";
import type { OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap, XapiRecord } from "../../xapi-value.js";
import { invalidValue } from "../effects/failures.js";
import { refs, text, textIn, textParam } from "../../records/fields.js";
import { vmCopyOperations } from "./vm-copies.js";

/** Schedules of snapshots (VMSS). */
export const snapshotScheduleOperations: OperationTable = {
  "VMSS.create": ({ db }, params) => {
    const record = params[0] as XapiRecord;
    const kept = Number(record["retained_snapshots"] ?? 7);
    if (kept < 1 || kept > 10)
      throw invalidValue("retained_snapshots", String(kept));
    assertSchedule((record["schedule"] ?? {}) as XapiMap);
    return db.create("VMSS", record);
  },
  "VMSS.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    if (refs(db.get("VMSS", ref), "VMs").length > 0)
      throw new XapiFailure("VMSS_HAS_VM");
    db.destroy("VMSS", ref);
  },
  "VMSS.snapshot_now": async (context, params) => {
    const schedule = context.db.get("VMSS", textParam(params, 0));
    const time = toDatetime(context.clock.now());
    for (const vm of refs(schedule, "VMs"))
      await vmCopyOperations["VM.snapshot"]!(context, [
        vm,
        `[${text(schedule, "name_label")}] ${time}`,
        [],
      ]);
    context.db.update("VMSS", textParam(params, 0), { last_run_time: time });
    return "";
  },
};

/** @throws XapiFailure INVALID_VALUE */
function assertSchedule(schedule: XapiMap): void {
  for (const [name, most] of [
    ["hour", 23],
    ["min", 59],
  ] as const) {
    const value = textIn(schedule, name);
    if (value !== "" && !(Number(value) >= 0 && Number(value) <= most))
      throw invalidValue(`schedule:${name}`, value);
  }
}
