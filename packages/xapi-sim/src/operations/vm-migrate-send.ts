import { NULL_REF } from "@xo-server/model";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiMap } from "../xapi-value.js";
import { progressDuring, whileBusy } from "./busy.js";
import { durations } from "./durations.js";
import { mapParam, refIn, refs, text, textParam } from "./fields.js";
import { tellVm } from "./messages.js";
import { refreshVbd, refreshVm } from "./refresh.js";
import { removeVdi } from "./vdi.js";
import { copyTime, duplicateVdi } from "./vdi-copies.js";
import { assertCanBootHere } from "./vm-checks.js";
import { moveDomain } from "./vm-domain.js";
import { hostTitle } from "./vm-power.js";

/**
 * Migration with disks and networks (storage motion), inside this pool only: a
 * destination elsewhere is refused as a host that cannot be reached.
 */
export const vmMigrateSendOperations: OperationTable = {
  "host.migrate_receive": ({ db, session }, params) => {
    const host = textParam(params, 0);
    const address = text(db.get("host", host), "address");
    db.get("network", textParam(params, 1));
    return {
      SM: `http://${address}/services/SM?session_id=${session.ref}`,
      host,
      xenops: `http://${address}/services/xenops?session_id=${session.ref}`,
      session_id: session.ref,
      master: `http://${address}/`,
    };
  },
  "VM.migrate_send": async (context, params) => {
    const vm = textParam(params, 0);
    const host = destinationOf(context, mapParam(params, 1));
    const plan = {
      host,
      disks: mapParam(params, 3),
      networks: mapParam(params, 4),
    };
    assertMapped(context, vm, plan);
    await whileBusy(context, { className: "VM", ref: vm }, "migrate_send", () =>
      move(context, vm, plan),
    );
    tellVm(
      context,
      vm,
      "VM_MIGRATED",
      `migrated to host: ${hostTitle(context, host)}`,
    );
    refreshVm(context.db, vm);
    return vm;
  },
};

interface MovePlan {
  readonly host: string;
  /** Reference of a VDI to that of its new SR. */
  readonly disks: XapiMap;
  /** Reference of a VIF to that of its new network. */
  readonly networks: XapiMap;
}

function destinationOf({ db }: CallContext, dest: XapiMap): string {
  const host = dest["host"];
  if (typeof host !== "string" || db.find("host", host) === undefined)
    throw new XapiFailure("INTERNAL_ERROR", [
      'Failure("the destination is no host of this pool")',
    ]);
  return host;
}

function assertMapped(
  { db }: CallContext,
  vm: string,
  { disks, networks }: MovePlan,
): void {
  const record = db.get("VM", vm);
  const state = text(record, "power_state");
  if (state !== "Running" && state !== "Halted")
    throw new XapiFailure("VM_BAD_POWER_STATE", [
      vm,
      "running, halted",
      state.toLowerCase(),
    ]);
  for (const [vdi, sr] of Object.entries(disks)) {
    db.get("VDI", vdi);
    db.get("SR", sr as string);
  }
  for (const [vif, network] of Object.entries(networks)) {
    db.get("VIF", vif);
    db.get("network", network as string);
  }
}

async function move(
  context: CallContext,
  vm: string,
  { host, disks, networks }: MovePlan,
): Promise<void> {
  const { db } = context;
  const copies = refs(db.get("VM", vm), "VBDs").filter((vbd) =>
    needsCopy(context, vbd, disks),
  );
  const time = copies.reduce<number>(
    (sum, vbd) =>
      sum + copyTime(db.get("VDI", text(db.get("VBD", vbd), "VDI"))),
    durations.migrate,
  );
  await progressDuring(context, time);
  for (const vbd of copies) moveDisk(context, vbd, disks);
  for (const [vif, network] of Object.entries(networks))
    db.update("VIF", vif, { network });
  const source = refIn(db.get("VM", vm), "resident_on");
  if (source === undefined || source === host) return;
  assertCanBootHere(db, vm, host);
  moveDomain(context, vm, host);
}

function needsCopy({ db }: CallContext, vbd: string, disks: XapiMap): boolean {
  const vdi = text(db.get("VBD", vbd), "VDI");
  const sr = disks[vdi];
  return (
    vdi !== NULL_REF &&
    sr !== undefined &&
    sr !== text(db.get("VDI", vdi), "SR")
  );
}

function moveDisk(context: CallContext, vbd: string, disks: XapiMap): void {
  const { db } = context;
  const vdi = text(db.get("VBD", vbd), "VDI");
  const moved = duplicateVdi(context, vdi, {
    isSnapshot: false,
    sr: disks[vdi] as string,
  });
  db.update("VBD", vbd, { VDI: moved });
  removeVdi(context, vdi, { freesSpace: true });
  refreshVbd(db, vbd);
}
