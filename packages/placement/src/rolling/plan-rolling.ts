import type {
  RollingPlan,
  RollingRequest,
  RollingWave,
  StuckHost,
} from "../model/rolling.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { RollingState } from "./rolling-state.js";
import { WaveSearch, type FoundWave } from "./wave-search.js";
import type { PlanOptions } from "../plans/options.js";

/**
 * Plans how hosts are taken down one after another, or several at a time, with all
 * VMs running. VMs move to hosts that are done where these have capacity, so that
 * they move once.
 * @throws InvalidModel for an unknown host
 */
export function planRolling(
  pool: IndexedPool,
  request: RollingRequest,
  options: PlanOptions = {},
): RollingPlan {
  const state = new RollingState(pool, request.hosts);
  const search = new WaveSearch(state, request, options);
  const { waves: most = Infinity } = request;
  const waves: RollingWave[] = [];
  const stuck: StuckHost[] = [];
  while (state.pending.size > 0 && waves.length < most) {
    const found = search.next() ?? withStuck(search.partial(), pool, stuck);
    const { hosts, plan } = found;
    const pending = (host: string) => state.isPending(host);
    waves.push({
      hosts: hosts.map((host) => pool.hosts.ids[host]!),
      actions: plan.actions,
      survives: hosts.length > 1 || search.survives(found),
      movesAgain: plan.actions.filter(({ to }) => pending(to)).length,
    });
    state.complete(hosts, plan.actions);
    for (const { vm } of plan.unplaced) state.vmHost[pool.vms.of(vm)] = -1;
  }
  const moves = waves.reduce((sum, { actions }) => sum + actions.length, 0);
  return { waves, stuck, moves };
}

function withStuck(
  found: FoundWave,
  pool: IndexedPool,
  stuck: StuckHost[],
): FoundWave {
  const { unplaced, conflict, isProven } = found.plan;
  const host = pool.hosts.ids[found.hosts[0]!]!;
  stuck.push({ host, unplaced, isProven, ...(conflict && { conflict }) });
  return found;
}
