import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type {
  EvacuationPlanner,
  HostEvacuationPlan,
} from "../placement/evacuations.js";
import { untrackedTask, type TaskContext } from "../tasks/task-context.js";
import { undoAfter, type UndoStep } from "../operations/undo.js";
import {
  mergeEvacuationBlockers,
  nameOf,
  assertNoEvacuationBlockers,
  listEvacuationBlockers,
  type EvacuationBlocker,
} from "./evacuation-blockers.js";

/** Parameters of an evacuation. */
export interface EvacuationOptions {
  readonly objects: PoolObjects;
  /** Absent: XAPI chooses a host for each VM. */
  readonly evacuations?: Pick<EvacuationPlanner, "plans"> | undefined;
  readonly work?: TaskContext | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EmptyOptions {
  /** The host is disabled without being evacuated. */
  readonly bypassEvacuate?: boolean;
  /** Continues even if not every VM could be migrated; the next step fails if that was required. */
  readonly force?: boolean;
  /** The network for the migration traffic; absent: the management network. */
  readonly network?: PoolObject | undefined;
}

/** Migrates the VMs of a host to other hosts; XAPI chooses how many at a time. */
export async function evacuate(
  { xapi, ref }: PoolObject,
  network?: PoolObject,
): Promise<void> {
  // Older hosts do not know the parameter.
  const by = network === undefined ? [] : [network.ref];
  await xapi.callAsync("host.evacuate", [ref, ...by]);
}

/**
 * Evacuates a host, unless one of its VMs cannot be migrated: then nothing is done.
 * @throws XoError VMS_CANNOT_LEAVE; errors of the pool
 */
export async function evacuateAll(
  host: PoolObject,
  parts: EvacuationOptions,
  network?: PoolObject,
): Promise<void> {
  const leave = await planHostEvacuation(host, parts);
  await executeEvacuation(host, { parts, leave, network });
}

/**
 * Plans the evacuation of a host before anything is done.
 * @returns undefined: XAPI chooses the hosts
 * @throws XoError VMS_CANNOT_LEAVE, ABORTED; errors of the pool
 */
async function planHostEvacuation(
  host: PoolObject,
  parts: EvacuationOptions,
): Promise<HostEvacuationPlan | undefined> {
  const { stuck, leave } = await blockersAndPlan(host, parts);
  assertNoEvacuationBlockers(stuck, leave?.conflict);
  return leave;
}

/**
 * The VMs that make `planHostEvacuation` fail.
 * @throws XoError ABORTED; errors of the pool
 */
export async function vmsPreventingEvacuation(
  host: PoolObject,
  parts: EvacuationOptions,
): Promise<EvacuationBlocker[]> {
  const { stuck } = await blockersAndPlan(host, parts);
  return stuck;
}

async function blockersAndPlan(host: PoolObject, parts: EvacuationOptions) {
  const reported = await listEvacuationBlockers(host, parts.objects);
  const leave = await evacuationPlanOf(host, parts);
  const stuck = mergeEvacuationBlockers(
    host,
    { stuck: reported, leave },
    parts.objects,
  );
  return { stuck, leave };
}

/** Plans the evacuation after XAPI has reported which VMs cannot be migrated. */
async function evacuationPlanOf(
  host: PoolObject,
  {
    evacuations,
    work = untrackedTask,
    signal = work.signal,
  }: EvacuationOptions,
): Promise<HostEvacuationPlan | undefined> {
  const leaves = await evacuations?.plans([host], { work, signal });
  return leaves?.get(host.id);
}

interface Move {
  readonly parts: EvacuationOptions;
  readonly leave: HostEvacuationPlan | undefined;
  readonly network?: PoolObject | undefined;
}

/**
 * Executes the plan of an evacuation. VMs that were started on the host in the
 * meantime are migrated by XAPI.
 */
async function executeEvacuation(
  host: PoolObject,
  { parts, leave, network }: Move,
): Promise<void> {
  const { work = untrackedTask, signal = work.signal } = parts;
  if (leave?.isNeeded === true) await leave.run({ work, signal }, network);
  await evacuate(host, network);
}

/**
 * Runs code while a host is disabled and evacuated. After a failure the host is
 * enabled again if it was enabled before.
 * @throws XoError VMS_CANNOT_LEAVE: nothing was done; LEFT_BEHIND; XapiError
 */
export async function whileEvacuated<T>(
  host: PoolObject,
  parts: EvacuationOptions,
  { bypassEvacuate = false, force = false, network }: EmptyOptions,
  run: () => Promise<T>,
): Promise<T> {
  const { xapi, ref, object } = host;
  const leave =
    bypassEvacuate || force ? undefined : await planHostEvacuation(host, parts);
  await xapi.call("host.disable", [ref]);
  try {
    if (!bypassEvacuate)
      await executeEvacuation(host, { parts, leave, network }).catch(
        (error: unknown) => {
          if (!force) throw error;
        },
      );
    return await run();
  } catch (error) {
    throw await undoAfter(
      error,
      object["enabled"] === true ? [enableAgain(host)] : [],
    );
  }
}

/** Enables a host that was disabled for an operation that failed. */
export function enableAgain(host: PoolObject): UndoStep {
  const { xapi, ref } = host;
  return {
    left: `host ${nameOf(host)} (disabled)`,
    run: () => xapi.call("host.enable", [ref]),
  };
}
