import type { BackupDescription } from "@xo-server/backup";
import { XoError, type Ref } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import { parseArchiveId } from "../archives/archive.js";
import type { Repositories } from "../repositories/repositories.js";
import {
  planVm,
  type PlannedVif,
  type RestoreRequest,
  type VmPlan,
} from "./restore-plan.js";

export interface PreparedRestore {
  readonly repository: string;
  readonly backup: string;
  readonly plan: VmPlan;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Default SR of the disks; the VM is created in its pool. */
  readonly sr: PoolObject;
  readonly srOf: (disk: string) => Ref;
  readonly networkOf: (vif: PlannedVif) => Ref | undefined;
  readonly keepsMacs: boolean;
}

interface PrepareParts {
  readonly repositories: Pick<Repositories, "run">;
  readonly objects: PoolObjects;
  /** Checks the rights of the caller. */
  readonly check: HandlerContext["check"];
  readonly signal: AbortSignal;
  /** Whether interfaces are attached to the networks in the backup. */
  readonly ownNetworks: boolean;
}

/**
 * Reads the manifest and checks all objects that the restore uses, before anything
 * is created.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS, BACKUP_*
 */
export async function prepareRestore(
  request: RestoreRequest,
  { repositories, objects, check, signal, ownNetworks }: PrepareParts,
): Promise<PreparedRestore> {
  const { repository, backup } = parseArchiveId(request.id)!;
  const sr = objects.get(request.sr, "SR");
  const pool = String(sr.object["$pool"]);
  check("administrate:import-vm", "pool", pool);
  const srs = new Map<string, Ref>();
  for (const [disk, id] of [
    ["", request.sr],
    ...Object.entries(request.srs),
  ] as const) {
    check("administrate:create-vdi", "SR", id);
    const { ref, object } = objects.get(id, "SR");
    checkPool("SR", id, { is: object["$pool"], should: pool });
    srs.set(disk, ref);
  }
  const description = await repositories.run<BackupDescription>(
    repository,
    { type: "describe", backup },
    { signal },
  );
  const plan = planVm(description, request);
  const networks = new Map<string, Ref | undefined>();
  for (const vif of ownNetworks ? plan.vifs : []) {
    const requested = request.networks[vif.device];
    const id =
      requested === undefined
        ? await findNetwork(vif, { objects, pool, sr })
        : (requested ?? undefined);
    if (id === undefined) {
      networks.set(vif.device, undefined);
      continue;
    }
    check("operate:use", "network", id);
    const { ref, object } = objects.get(id, "network");
    checkPool("network", id, { is: object["$pool"], should: pool });
    networks.set(vif.device, ref);
  }
  return {
    repository,
    backup,
    plan,
    time: description.time,
    sr,
    srOf: (disk) => srs.get(disk) ?? srs.get("")!,
    networkOf: ({ device }) => networks.get(device),
    // Two VMs with the same MAC addresses must not run in one network.
    keepsMacs: !(request.newMacs ?? objects.find(plan.uuid) !== undefined),
  };
}

/** Finds the network with the same UUID, or the only one with the same name. */
async function findNetwork(
  { network: { uuid, name_label } }: PlannedVif,
  where: {
    readonly objects: PoolObjects;
    readonly pool: string;
    readonly sr: PoolObject;
  },
): Promise<string | undefined> {
  const { objects, pool, sr } = where;
  const same = uuid === "" ? undefined : objects.find(uuid);
  if (same?.type === "network" && same.object["$pool"] === pool) return same.id;
  if (name_label === "") return undefined;
  const found = (await sr.xapi.call("network.get_by_name_label", [
    name_label,
  ])) as readonly Ref[];
  return found.length === 1 ? objects.idOf(found[0]!) : undefined;
}

function checkPool(
  type: string,
  id: string,
  pool: { readonly is: unknown; readonly should: string },
): void {
  if (pool.is === pool.should) return;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `${type} ${id} is not in the pool of the default SR`,
  });
}
