import type { CallContext } from "../operation.js";
import { dial, PeerRefusal } from "./dial.js";
import { disksOf, serializeVm } from "./migration-payload.js";
import { PeerDisconnected, type LineChannel } from "./line-channel.js";
import type { ReceiveOrder } from "./migration-receiver.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiMap } from "../xapi-value.js";
import { progressDuring, whileBusy } from "../operations/effects/busy.js";
import { durations } from "../operations/effects/durations.js";
import { refs, text, textIn } from "../records/fields.js";
import { createVmMessage } from "../operations/effects/messages.js";
import { badPowerState } from "../operations/effects/failures.js";
import { removeVdi } from "../operations/storage/vdi.js";
import {
  assertNoTrackedDisk,
  assertNoTrackedSnapshot,
} from "../operations/storage/tracked-disks.js";
import { copyTime } from "../operations/storage/vdi-copies.js";
import { assertStillRuns } from "../operations/vm/vm-checks.js";
import { destroyVm } from "../operations/vm/vm-destroy.js";
import { endDomain } from "../operations/vm/vm-domain.js";

/** Of a disk, in one message. */
const MAX_BYTES = 2 ** 20;

/** Parameters of VM.migrate_send where the destination is another pool. */
export interface CrossPoolMigration {
  /** What host.migrate_receive of the other pool has answered. */
  readonly dest: XapiMap;
  readonly disks: XapiMap;
  readonly networks: XapiMap;
  /** The VM stays, another like it comes into being there. */
  readonly copy: boolean;
}

/** Hands a VM over to another pool, with disks and snapshots. @returns its reference there */
export async function migrateToPool(
  context: CallContext,
  vm: string,
  migration: CrossPoolMigration,
): Promise<string> {
  await assertCanMigrateToPool(context, vm, migration);
  assertNoTrackedSnapshot(context.db, disksOf(context.db, vm));
  return whileBusy(
    context,
    { className: "VM", ref: vm },
    "migrate_send",
    async () => {
      const channel = await announce(context, vm, migration);
      try {
        await transfer(context, vm, channel);
        await sendContents(context, vm, channel);
        const arrived = await channel.request({ finish: true });
        if (!migration.copy) leave(context, vm);
        return arrived["vm"] as string;
      } catch (error) {
        throw error instanceof PeerDisconnected
          ? migrateFailed(context, vm, migration)
          : error;
      } finally {
        channel.close();
      }
    },
  );
}

/**
 * VM.assert_can_migrate: all that would keep the VM from going, here and there, except for tracked snapshots: XAPI
 * knows where these go only when it migrates [xapi_vm_migrate.ml].
 */
export async function assertCanMigrateToPool(
  context: CallContext,
  vm: string,
  migration: CrossPoolMigration,
): Promise<void> {
  assertMayTravel(context, vm, migration);
  (await announce(context, vm, migration)).close();
}

/**
 * XAPI's preconditions of a VM that leaves its pool, in its order [xapi_vm_migrate.ml
 * assert_can_migrate].
 */
function assertMayTravel(
  { db }: CallContext,
  vm: string,
  { copy, disks, networks }: CrossPoolMigration,
): void {
  const record = db.get("VM", vm);
  const state = text(record, "power_state");
  for (const vdi of Object.keys(disks)) db.get("VDI", vdi);
  for (const vif of Object.keys(networks)) db.get("VIF", vif);
  assertNoTrackedDisk(db, vm);
  if (copy && state !== "Halted") throw badPowerState(vm, ["Halted"], state);
  for (const vif of refs(record, "VIFs"))
    if (!Object.hasOwn(networks, vif))
      throw new XapiFailure("VIF_NOT_IN_MAP", [vif]);
}

/**
 * Requests the migration from the other pool, which then reserves room for the
 * disks.
 */
async function announce(
  { db, state }: CallContext,
  vm: string,
  { dest, disks, networks, copy }: CrossPoolMigration,
): Promise<LineChannel> {
  const channel = await call(dest);
  const order: ReceiveOrder = {
    host: textIn(dest, "host"),
    live: text(db.get("VM", vm), "power_state") === "Running",
    copy,
    srs: disks as ReceiveOrder["srs"],
    networks: networks as ReceiveOrder["networks"],
    payload: serializeVm({ db, state }, vm),
  };
  try {
    await channel.request(order as unknown as Record<string, unknown>);
    return channel;
  } catch (error) {
    channel.close();
    if (error instanceof PeerDisconnected) throw outOfReach();
    throw error;
  }
}

async function call(dest: XapiMap): Promise<LineChannel> {
  const session = textIn(dest, "session_id");
  try {
    const query = new URLSearchParams({ session_id: session }).toString();
    return await dial(textIn(dest, "xenops"), `/services/xenops?${query}`);
  } catch (error) {
    if (error instanceof PeerRefusal && error.status === 401)
      throw new XapiFailure("SESSION_INVALID", [session]);
    throw outOfReach();
  }
}

function outOfReach(): XapiFailure {
  return new XapiFailure("VM_MIGRATE_CONTACT_REMOTE_SERVICE_FAILED");
}

/** The disks go over, then the memory: as long as that takes, with the other side there. */
async function transfer(
  context: CallContext,
  vm: string,
  channel: LineChannel,
): Promise<void> {
  const { db } = context;
  const live = text(db.get("VM", vm), "power_state") === "Running";
  const time = disksOf(db, vm).reduce<number>(
    (sum, vdi) => sum + copyTime(db.get("VDI", vdi)),
    durations.migrate,
  );
  const attended: CallContext = {
    ...context,
    delay: async (ms) => {
      await context.delay(ms);
      if (!channel.isOpen) throw new PeerDisconnected("the peer has gone");
    },
  };
  await progressDuring(attended, time);
  if (live) assertStillRuns(db, vm);
}

/** Sends the contents of the disks in pieces of 1 MiB. */
async function sendContents(
  { db, state: { disks } }: CallContext,
  vm: string,
  channel: LineChannel,
): Promise<void> {
  for (const disk of disksOf(db, vm)) {
    const uuid = text(db.get("VDI", disk), "uuid");
    for (const { offset, length } of disks.history(uuid).written)
      for (let at = offset; at < offset + length; at += MAX_BYTES) {
        const size = Math.min(MAX_BYTES, offset + length - at);
        const bytes = Buffer.allocUnsafe(size);
        disks.read(uuid, at, bytes);
        await channel.request({
          disk,
          offset: at,
          bytes: bytes.toString("base64"),
        });
      }
  }
}

function migrateFailed(
  { db }: CallContext,
  vm: string,
  { dest }: CrossPoolMigration,
): XapiFailure {
  return new XapiFailure("VM_MIGRATE_FAILED", [
    vm,
    text(db.get("VM", vm), "resident_on"),
    textIn(dest, "host"),
    "The connection to the destination was lost",
  ]);
}

/** The VM with its snapshots and disks is here no more. */
function leave(context: CallContext, vm: string): void {
  const { db } = context;
  createVmMessage(context, vm, "VM_MIGRATED", "migrated to another pool");
  const disks = disksOf(db, vm);
  const record = db.get("VM", vm);
  if (text(record, "power_state") === "Running")
    endDomain(context, vm, "Halted");
  for (const snapshot of refs(record, "snapshots"))
    destroyVm(context, snapshot);
  destroyVm(context, vm);
  for (const vdi of disks) removeVdi(context, vdi, { freesSpace: true });
}
