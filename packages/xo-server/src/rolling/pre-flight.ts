import type { RollingPlan } from "@xo-server/placement";
import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { eachOf } from "../hosts/guests.js";
import {
  isCapacityError,
  listEvacuationBlockers,
  blockersWithoutShutdown,
  type EvacuationBlocker,
} from "../hosts/evacuation-blockers.js";
import type { WavePlanner } from "./wave-planner.js";

interface PreFlightParts {
  readonly objects: PoolObjects;
  /** Absent: XAPI chooses the target hosts, one host at a time. */
  readonly planner?: WavePlanner | undefined;
  readonly work: TaskContext;
  readonly signal: AbortSignal;
}

interface PreFlightRequest {
  readonly pool: string;
  /** Running hosts that are to be taken down and have not been rebooted. */
  readonly hosts: readonly PoolObject[];
  readonly shutdownPinnedVms: boolean;
  readonly parallel: number;
  readonly failures: number;
  readonly waves?: number;
}

export interface PreFlight {
  /** Absent: planning failed, or there is no planner. */
  readonly plan: RollingPlan | undefined;
  /** VMs that prevent the start of the run. */
  readonly stuck: readonly EvacuationBlocker[];
  /** VMs that will be shut down and started again. */
  readonly shutDown: readonly EvacuationBlocker[];
  readonly conflict?: object | undefined;
}

/**
 * Checks, before anything is done, whether each host can be evacuated, and in which
 * order.
 * @throws XoError ABORTED; errors of the pool
 */
export async function preFlight(
  request: PreFlightRequest,
  parts: PreFlightParts,
): Promise<PreFlight> {
  const { objects } = parts;
  const reported: EvacuationBlocker[] = [];
  await eachOf(request.hosts, async (host) => {
    reported.push(...(await listEvacuationBlockers(host, objects)));
  });
  const pinned = reported.filter((one) => !isCapacityError(one));
  const noRoom = reported.filter(isCapacityError);
  const isShutDown = request.shutdownPinnedVms;
  const shutDown = isShutDown ? pinned : [];
  const plan = await planAll(request, parts, { pinned, shutDown });
  const unplaced = plan === undefined ? noRoom : unplacedIn(plan);
  const known = new Set(pinned.map(({ vm }) => vm.id));
  return {
    plan,
    shutDown,
    stuck: [
      ...(isShutDown ? await blockersWithoutShutdown(pinned) : pinned),
      ...unplaced.filter(({ vm }) => !known.has(vm.id)),
    ],
    conflict: plan?.stuck.find(({ conflict }) => conflict)?.conflict,
  };

  function unplacedIn({ stuck }: RollingPlan): EvacuationBlocker[] {
    const hasRules = parts.planner!.hasRules(request.pool);
    const refused = new Set(noRoom.map(({ vm }) => vm.id));
    return stuck.flatMap(({ host, unplaced, isProven }) =>
      unplaced
        .filter(({ vm }) => isProven || hasRules || refused.has(vm))
        .map(({ vm, refusals }) => ({
          vm: objects.get(vm, "VM"),
          host: objects.get(host, "host"),
          reason: ["NO_HOST_FOR_VM", ...refusals.map(({ rule }) => rule)],
        })),
    );
  }
}

async function planAll(
  { pool, hosts, parallel, failures, waves }: PreFlightRequest,
  { planner, objects, work, signal }: PreFlightParts,
  {
    pinned,
    shutDown,
  }: {
    readonly pinned: readonly EvacuationBlocker[];
    readonly shutDown: readonly EvacuationBlocker[];
  },
): Promise<RollingPlan | undefined> {
  if (planner === undefined || hosts.length === 0) return undefined;
  const ids = hosts.map(({ id }) => id);
  const { master } = objects.get(pool, "pool").object;
  const request = {
    hosts: ids,
    ...(ids.includes(String(master)) && { first: String(master) }),
    parallel,
    failures,
    ...(waves === undefined ? {} : { waves }),
  };
  const known = {
    pinned: new Map(pinned.map(({ vm, reason }) => [vm.id, reason[0]!])),
    without: new Set(shutDown.map(({ vm }) => vm.id)),
  };
  try {
    return await planner.plan(pool, request, known, signal);
  } catch (error) {
    if (error instanceof XoError && error.code === "ABORTED") throw error;
    const { message } = error as Error;
    work.warn(`no plan, XAPI chooses the hosts, one at a time: ${message}`);
    return undefined;
  }
}
