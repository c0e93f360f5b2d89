import { XapiError, XoError, type Ref } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { withoutCbt, type TrackedSnapshots } from "./without-cbt.js";
import { disksOf, readVbds, readRecord } from "./xapi-records.js";

/** The targets of a VM, its disks and its interfaces. */
export interface MigrationRequest {
  readonly vm: PoolObject;
  /** Target host, in the same pool or in another one. */
  readonly host: PoolObject;
  /** SR for disks without an entry in `srs`. */
  readonly sr: Ref | undefined;
  /** SR by the uuid of a disk. */
  readonly srs: ReadonlyMap<string, Ref>;
  /** Network by the uuid of an interface. */
  readonly networks: ReadonlyMap<string, Ref>;
  /** Network for the migration traffic; undefined: the host's management network. */
  readonly network: Ref | undefined;
  /** Whether to migrate even if the hosts' CPUs differ. */
  readonly force: boolean;
  /** @throws XoError TRACKED_SNAPSHOT: one of them may not be deleted */
  readonly findSnapshots: (disks: readonly Ref[]) => Promise<TrackedSnapshots>;
}

/**
 * Migrates a VM. Its disks are migrated too if that is requested, if the host is in
 * another pool, or if the host has no access to them.
 */
export async function migrateVm(
  migration: MigrationRequest,
  objects: PoolObjects,
): Promise<void> {
  const { vm, host, force } = migration;
  if (movesStorage(migration)) return sendVm(migration, objects);
  try {
    const options = { force: String(force) };
    await vm.xapi.callAsync("VM.pool_migrate", [vm.ref, host.ref, options]);
  } catch (error) {
    if (!(await isStorageUnreachable(error, migration, objects))) throw error;
    await sendVm(migration, objects);
  }
}

/**
 * Whether the host has no access to the disks. XAPI does not check that for a
 * halted VM, but only reports that it is not running.
 */
async function isStorageUnreachable(
  error: unknown,
  { vm, host }: MigrationRequest,
  objects: PoolObjects,
): Promise<boolean> {
  if (!(error instanceof XapiError)) return false;
  if (error.code === "VM_REQUIRES_SR") return true;
  const isHalted =
    error.code === "VM_BAD_POWER_STATE" &&
    error.params[2]?.toLowerCase() === "halted";
  if (!isHalted) return false;
  const seen = srsOf(host, objects);
  const { VBDs } = await readRecord(vm.xapi, "VM", vm.ref);
  for (const { VDI } of disksOf(await readVbds(vm.xapi, VBDs)))
    if (!seen.has((await readRecord(vm.xapi, "VDI", VDI)).SR)) return true;
  return false;
}

function movesStorage(migration: MigrationRequest): boolean {
  const { sr, srs, networks, network } = migration;
  return (
    isElsewhere(migration) ||
    sr !== undefined ||
    network !== undefined ||
    srs.size + networks.size > 0
  );
}

function isElsewhere({ vm, host }: MigrationRequest): boolean {
  return vm.object["$pool"] !== host.object["$pool"];
}

async function sendVm(
  migration: MigrationRequest,
  objects: PoolObjects,
): Promise<void> {
  const { vm, host, force } = migration;
  const record = await readRecord(vm.xapi, "VM", vm.ref);
  const disks = disksOf(await readVbds(vm.xapi, record.VBDs));
  const targets = targetsOf(migration, objects);
  const vdiMap: Record<Ref, Ref> = {};
  const moving: Ref[] = [];
  for (const { VDI } of disks) {
    const { uuid, SR } = await readRecord(vm.xapi, "VDI", VDI);
    vdiMap[VDI] = targets.srOf(uuid, SR);
    if (vdiMap[VDI] !== SR) moving.push(VDI);
  }
  assertKnown(
    "disk",
    migration.srs,
    await uuidsOf(vm, "VDI", Object.keys(vdiMap)),
  );
  const management = await managementNetwork(host);
  const uuids = await uuidsOf(vm, "VIF", record.VIFs);
  assertKnown("interface", migration.networks, uuids);
  const vifMap: Record<Ref, Ref> = {};
  for (const [i, vif] of record.VIFs.entries()) {
    const network = migration.networks.get(uuids[i]!);
    if (network !== undefined || isElsewhere(migration))
      vifMap[vif] = network ?? management;
  }
  // The call only creates a session for the sender [xapi_host.ml migrate_receive].
  // If its answer is lost, the session expires.
  const token = await host.xapi.call(
    "host.migrate_receive",
    [host.ref, migration.network ?? management, {}],
    { idempotent: true },
  );
  const params = [vm.ref, token, true, vdiMap, vifMap];
  const options = { force: String(force) };
  await withoutCbt(vm.xapi, {
    findSnapshots: async () => {
      if (isElsewhere(migration)) await assertEnabled(host);
      return migration.findSnapshots(moving);
    },
    migrate: () => vm.xapi.callAsync("VM.migrate_send", [...params, options]),
  });
}

/**
 * XAPI would refuse this host too, but only when tracking is disabled: the next backup would have to read all
 * [xapi_vm_migrate.ml, assert_can_migrate, of another pool].
 * @throws XapiError HOST_DISABLED
 */
async function assertEnabled({ xapi, ref }: PoolObject): Promise<void> {
  if ((await xapi.call("host.get_enabled", [ref])) === false)
    throw new XapiError("HOST_DISABLED", [ref], "VM.migrate_send");
}

/** @throws XoError INVALID_PARAMETERS: a target is given for a disk or interface that the VM does not have */
function assertKnown(
  what: string,
  requestedSrs: ReadonlyMap<string, Ref>,
  uuids: readonly string[],
): void {
  for (const uuid of requestedSrs.keys())
    if (!uuids.includes(uuid))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `the VM has no ${what} ${uuid}`,
      });
}

async function uuidsOf(
  { xapi }: PoolObject,
  className: string,
  refs: readonly Ref[],
): Promise<string[]> {
  const uuids = await Promise.all(
    refs.map((ref) => xapi.call(`${className}.get_uuid`, [ref])),
  );
  return uuids.map(String);
}

/** Disks that the host can access stay on their SRs. */
function targetsOf(
  { host, sr: requested, srs }: MigrationRequest,
  objects: PoolObjects,
): { srOf(uuid: string, current: Ref): Ref } {
  const seen = srsOf(host, objects);
  const { default_SR } = objects.get(String(host.object["$pool"])).object;
  const common =
    typeof default_SR === "string"
      ? objects.get(default_SR, "SR").ref
      : undefined;
  return {
    srOf(uuid, current) {
      const sr =
        srs.get(uuid) ?? requested ?? (seen.has(current) ? current : common);
      if (sr !== undefined) return sr;
      throw new XoError("INVALID_PARAMETERS", {
        reason: `no SR was specified for disk ${uuid}, and the pool has no default`,
      });
    },
  };
}

function srsOf({ object }: PoolObject, objects: PoolObjects): Set<Ref> {
  const pbds = object["$PBDs"] as readonly string[];
  return new Set(
    pbds
      .map((id) => objects.get(id, "PBD").object)
      .filter(({ attached }) => attached === true)
      .map((pbd) => objects.get(String(pbd["SR"]), "SR").ref),
  );
}

async function managementNetwork({ xapi, ref }: PoolObject): Promise<Ref> {
  const pif = await xapi.call("host.get_management_interface", [ref]);
  return (await xapi.call("PIF.get_network", [pif])) as Ref;
}
