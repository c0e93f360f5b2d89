import type { CallContext, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiRecord, XapiValue } from "../../xapi-value.js";
import {
  isoSrOperations,
  srOperations,
} from "../../records/allowed-operations.js";
import { whileBusy } from "../effects/busy.js";

import { resumeMerging } from "./disk-chains.js";
import { deleteContents } from "./disk-data.js";
import { durations } from "../effects/durations.js";
import { denied } from "../effects/failures.js";
import { findDisks } from "./forgotten-disks.js";
import { flag, mapParam, refs, text, textParam } from "../../records/fields.js";
import { refreshSr } from "../effects/refresh.js";
import {
  assertCanHostStatefile,
  assertDevice,
  assertIdle,
  assertDeletable,
  assertPlugged,
  hasStatefile,
} from "./sr-checks.js";

const TiB = 2 ** 40;

export const srOperationTable: OperationTable = {
  "SR.create": async (context, params) => {
    const { db } = context;
    const host = textParam(params, 0);
    const type = textParam(params, 5);
    db.get("host", host);
    assertDriver(context, type);
    assertDevice(db, host, { type, device: mapParam(params, 1) });
    await context.delay(durations.srChange);
    const shared = params[7] === true;
    const sr = addSr(context, {
      name_label: textParam(params, 3),
      name_description: textParam(params, 4),
      type,
      content_type: textParam(params, 6),
      shared,
      sm_config: mapParam(params, 8),
      physical_size: Number(params[2]) > 0 ? Number(params[2]) : 4 * TiB,
    });
    for (const member of shared ? db.refs("host") : [host])
      db.create("PBD", {
        host: member,
        SR: sr,
        device_config: mapParam(params, 1),
        currently_attached: true,
      });
    return sr;
  },
  "SR.introduce": (context, params) => {
    return addSr(context, {
      uuid: textParam(params, 0),
      name_label: textParam(params, 1),
      name_description: textParam(params, 2),
      type: textParam(params, 3),
      content_type: textParam(params, 4),
      shared: params[5] === true,
      sm_config: mapParam(params, 6),
      physical_size: 4 * TiB,
    });
  },
  "SR.destroy": async (context, params) => {
    const sr = textParam(params, 0);
    const record = context.db.get("SR", sr);
    assertDeletable(context.db, sr);
    if (refs(record, "PBDs").length === 0)
      throw new XapiFailure("SR_HAS_NO_PBDS", [sr]);
    if (
      refs(record, "VDIs").some((vdi) =>
        flag(context.db.get("VDI", vdi), "managed"),
      )
    )
      throw new XapiFailure("SR_NOT_EMPTY");
    await whileBusy(context, { className: "SR", ref: sr }, "destroy", () =>
      context.delay(durations.srChange),
    );
    removeSr(context, sr);
  },
  "SR.forget": (context, params) => {
    const sr = textParam(params, 0);
    assertDeletable(context.db, sr);
    removeSr(context, sr);
  },
  "SR.scan": async (context, params) => {
    const sr = textParam(params, 0);
    assertPlugged(context.db, sr);
    assertIdle(context.db, "SR", sr);
    await whileBusy(context, { className: "SR", ref: sr }, "scan", () =>
      context.delay(durations.scan),
    );
    findDisks(context, sr);
    resumeMerging(context, sr);
  },
  "SR.update": ({ db }, params) => {
    db.get("SR", textParam(params, 0));
  },
  "SR.get_supported_types": ({ db }) => [
    ...new Set([...db.records("SM")].map(([, record]) => text(record, "type"))),
  ],
  "SR.probe_ext": ({ db }, params) => {
    db.get("host", textParam(params, 0));
    assertDriver({ db }, textParam(params, 2));
    return [];
  },
  "SR.get_live_hosts": ({ db }, params) =>
    refs(db.get("SR", textParam(params, 0)), "PBDs")
      .map((pbd) => db.get("PBD", pbd))
      .filter((pbd) => flag(pbd, "currently_attached"))
      .map((pbd) => text(pbd, "host")),
  "SR.assert_can_host_ha_statefile": ({ db }, params) => {
    assertCanHostStatefile(db, textParam(params, 0));
  },
  "SR.assert_supports_database_replication": replicate,
  "SR.enable_database_replication": replicate,
  "SR.disable_database_replication": replicate,
  "PBD.create": ({ db }, params) => {
    const record = params[0] as XapiRecord;
    const [host, sr] = [text(record, "host"), text(record, "SR")];
    // XAPI checks neither the host nor the SR.
    for (const pbd of refs(db.find("SR", sr) ?? { PBDs: [] }, "PBDs")) {
      if (text(db.get("PBD", pbd), "host") === host)
        throw new XapiFailure("PBD_EXISTS", [sr, host, pbd]);
      if (!flag(db.get("SR", sr), "shared"))
        throw new XapiFailure("SR_NOT_SHARABLE", [sr, host]);
    }
    return db.create("PBD", { ...record, currently_attached: false });
  },
  "PBD.destroy": ({ db }, params) => {
    const ref = textParam(params, 0);
    if (flag(db.get("PBD", ref), "currently_attached"))
      throw new XapiFailure("OPERATION_NOT_ALLOWED", [
        "PBD is currently attached",
      ]);
    db.destroy("PBD", ref);
  },
  "PBD.set_device_config": denied("PBD"),
  "PBD.plug": async (context, params) => {
    const { db } = context;
    const ref = textParam(params, 0);
    const { host, SR, currently_attached } = db.get("PBD", ref);
    if (currently_attached === true) return;
    const { metrics } = db.get("host", host as string);
    if (db.find("host_metrics", metrics as string)?.["live"] === false)
      throw new XapiFailure("HOST_OFFLINE", [host as string]);
    await context.delay(durations.srChange);
    db.update("PBD", ref, { currently_attached: true });
    refreshSr(db, SR as string);
  },
  "PBD.unplug": unplugPbd,
};

/** Enables copies of the database on an SR, which must be shared block storage [xapi_sr.ml, from memory]. */
function replicate(
  { db }: CallContext,
  params: readonly XapiValue[],
): undefined {
  const sr = textParam(params, 0);
  assertPlugged(db, sr);
  if (!text(db.get("SR", sr), "type").startsWith("lvmo"))
    throw new XapiFailure("SR_OPERATION_NOT_SUPPORTED", [sr]);
}

async function unplugPbd(
  context: CallContext,
  params: readonly XapiValue[],
): Promise<void> {
  const { db } = context;
  const ref = textParam(params, 0);
  const pbd = db.get("PBD", ref);
  if (!flag(pbd, "currently_attached")) return;
  if (hasStatefile(db, text(pbd, "SR"))) throw new XapiFailure("HA_IS_ENABLED");
  const vdi = refs(db.get("SR", text(pbd, "SR")), "VDIs").find((disk) =>
    isOpenOn(context, disk, text(pbd, "host")),
  );
  if (vdi !== undefined) throw new XapiFailure("VDI_IN_USE", [vdi, "unplug"]);
  await context.delay(durations.srChange);
  db.update("PBD", ref, { currently_attached: false });
  refreshSr(db, text(pbd, "SR"));
}

/** Whether a VM on this host has the disk open. */
function isOpenOn({ db }: CallContext, vdi: string, host: string): boolean {
  return refs(db.get("VDI", vdi), "VBDs").some((ref) => {
    const vbd = db.get("VBD", ref);
    return (
      flag(vbd, "currently_attached") &&
      text(db.get("VM", text(vbd, "VM")), "resident_on") === host
    );
  });
}

function addSr({ db }: CallContext, record: XapiRecord): string {
  const iso = record["content_type"] === "iso";
  return db.create("SR", {
    ...record,
    allowed_operations: iso ? isoSrOperations : srOperations,
  });
}

/** @throws XapiFailure SR_UNKNOWN_DRIVER */
export function assertDriver(
  { db }: Pick<CallContext, "db">,
  type: string,
): void {
  for (const [, record] of db.records("SM"))
    if (text(record, "type") === type) return;
  throw new XapiFailure("SR_UNKNOWN_DRIVER", [type]);
}

/** Deletes the local SRs of a removed host. VBDs of their disks become empty. */
export function removeLocalSrs(context: CallContext, host: string): void {
  const { db } = context;
  for (const pbd of refs(db.get("host", host), "PBDs")) {
    const sr = text(db.get("PBD", pbd), "SR");
    if (!flag(db.get("SR", sr), "shared")) removeSr(context, sr);
  }
}

function removeSr({ db, state }: CallContext, sr: string): void {
  const record = db.get("SR", sr);
  for (const pbd of refs(record, "PBDs")) db.destroy("PBD", pbd);
  for (const vdi of refs(record, "VDIs")) {
    for (const vbd of refs(db.get("VDI", vdi), "VBDs"))
      db.update("VBD", vbd, { VDI: "OpaqueRef:NULL", empty: true });
    deleteContents({ db, state }, vdi);
    db.destroy("VDI", vdi);
  }
  db.destroy("SR", sr);
}
