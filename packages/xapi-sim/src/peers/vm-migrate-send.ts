import { NULL_REF } from "@xo-server/model";
import type { Database } from "../database.js";
import type { CallContext, OperationTable } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiMap, XapiValue } from "../xapi-value.js";
import { progressDuring, whileBusy } from "../operations/effects/busy.js";
import { durations } from "../operations/effects/durations.js";
import {
  mapParam,
  refIn,
  refs,
  text,
  textIn,
  textParam,
} from "../records/fields.js";
import { createVmMessage } from "../operations/effects/messages.js";
import { refreshVbd, refreshVm } from "../operations/effects/refresh.js";
import { moveVdi } from "../operations/storage/vdi.js";
import {
  assertNoTrackedDisk,
  assertNoTrackedSnapshot,
} from "../operations/storage/tracked-disks.js";
import { copyTime } from "../operations/storage/vdi-copies.js";
import {
  assertCanBootHere,
  assertEnoughMemory,
  assertHostRuns,
  assertVmMay,
} from "../operations/vm/vm-checks.js";
import { moveDomain } from "../operations/vm/vm-domain.js";
import { hostTitle } from "../operations/vm/vm-power.js";
import {
  assertCanMigrateToPool,
  migrateToPool,
  type CrossPoolMigration,
} from "./vm-cross-pool-migration.js";

/** Migration with disks and networks (storage motion), inside this pool or to another. */
export const vmMigrateSendOperations: OperationTable = {
  "host.migrate_receive": (context, params) => {
    const { pool, session } = context;
    const host = textParam(params, 0);
    assertReachable(context, host, textParam(params, 1));
    const url = pool.urlOf(host);
    const token = pool.openSession(session.userName, host);
    return {
      SM: `${url}/services/SM?session_id=${token}`,
      host,
      xenops: `${url}/services/xenops?session_id=${token}`,
      session_id: token,
      master: `${pool.urlOf(pool.coordinatorRef())}/`,
    };
  },
  "VM.assert_can_migrate": async (context, params) => {
    const vm = textParam(params, 0);
    const migration = crossPoolMigrationOf(params);
    const elsewhere = isElsewhere(context, migration.dest);
    assertVmMay(context.db, vm, "migrate_send");
    if (elsewhere) await assertCanMigrateToPool(context, vm, migration);
    else assertPossible(context, vm, planOf(context, params));
  },
  "VM.migrate_send": async (context, params) => {
    const vm = textParam(params, 0);
    const migration = crossPoolMigrationOf(params);
    const elsewhere = isElsewhere(context, migration.dest);
    assertVmMay(context.db, vm, "migrate_send");
    if (elsewhere) return migrateToPool(context, vm, migration);
    const plan = planOf(context, params);
    const { host } = plan;
    assertPossible(context, vm, plan);
    assertNoTrackedSnapshot(context.db, moving(context.db, plan));
    await whileBusy(context, { className: "VM", ref: vm }, "migrate_send", () =>
      move(context, vm, plan),
    );
    createVmMessage(
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

/** (vm, dest, live, vdi_map, vif_map, options, vgpu_map) */
function crossPoolMigrationOf(
  params: readonly XapiValue[],
): CrossPoolMigration {
  return {
    dest: mapParam(params, 1),
    disks: mapParam(params, 3),
    networks: mapParam(params, 4),
    copy: mapParam(params, 5)["copy"] === "true",
  };
}

function planOf({ db }: CallContext, params: readonly XapiValue[]): MovePlan {
  const { dest, disks, networks } = crossPoolMigrationOf(params);
  const host = textIn(dest, "host");
  db.get("host", host);
  return { host, disks, networks };
}

/** An unknown host belongs to another pool, which must be reachable. */
function isElsewhere({ db }: CallContext, dest: XapiMap): boolean {
  const { host, xenops } = dest;
  if (typeof host === "string" && db.find("host", host) !== undefined)
    return false;
  if (typeof host !== "string" || typeof xenops !== "string")
    throw new XapiFailure("INTERNAL_ERROR", ["Not_found"]);
  return true;
}

/** The host must have an address on the network [xapi_host.ml migrate_receive, from memory]. */
function assertReachable(
  { db }: CallContext,
  host: string,
  network: string,
): void {
  db.get("host", host);
  const pif = refs(db.get("network", network), "PIFs").find(
    (ref) => text(db.get("PIF", ref), "host") === host,
  );
  if (pif === undefined)
    throw new XapiFailure("HOST_CANNOT_ATTACH_NETWORK", [host, network]);
  const record = db.get("PIF", pif);
  if (text(record, "ip_configuration_mode") === "None")
    throw new XapiFailure("PIF_HAS_NO_NETWORK_CONFIGURATION", [pif]);
  if (text(record, "IP") === "")
    throw new XapiFailure("INTERFACE_HAS_NO_IP", [pif]);
}

function assertPossible(
  context: CallContext,
  vm: string,
  { host, disks, networks }: MovePlan,
): void {
  const { db } = context;
  const source = refIn(db.get("VM", vm), "resident_on");
  for (const vdi of Object.keys(disks)) db.get("VDI", vdi);
  assertNoTrackedDisk(db, vm);
  assertHostRuns(db, host);
  if (source !== undefined && source !== host)
    assertEnoughMemory(context, { vm: db.get("VM", vm), ref: vm }, host);
  for (const sr of Object.values(disks)) db.get("SR", sr as string);
  for (const [vif, network] of Object.entries(networks)) {
    db.get("VIF", vif);
    db.get("network", network as string);
  }
}

/** Disks whose SR changes. */
function moving(db: Database, { disks }: MovePlan): readonly string[] {
  return Object.keys(disks).filter(
    (vdi) => text(db.get("VDI", vdi), "SR") !== disks[vdi],
  );
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
  assertCanBootHere(context, vm, host);
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
  moveVdi(context, vdi, disks[vdi] as string);
  refreshVbd(db, vbd);
}
