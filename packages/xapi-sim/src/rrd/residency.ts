import type { Database } from "../database.js";
import type { PoolData, PoolState } from "../pool-state.js";
import { refIn, refs, text } from "../records/fields.js";
import { startOf } from "./vm-runs.js";
import { loadOf, type Load } from "./loads.js";

/** Maximum number of entries per host. */
const MAX_STAYS = 256;

/** Notes that the VM leaves the host that it is on. @param now Unix seconds */
export function endResidency(pool: PoolData, vm: string, now: number): void {
  const { db, state } = pool;
  const host = text(db.get("VM", vm), "resident_on");
  const stays = state.residencies.get(host) ?? [];
  state.residencies.set(host, stays);
  stays.push({ from: arrival(pool, vm), to: now, load: loadOf(pool, vm) });
  if (stays.length > MAX_STAYS) stays.shift();
  state.arrivals.delete(vm);
}

/**
 * Records that a migrated VM arrives on another host.
 * @param now Unix seconds
 */
export function beginResidency(
  { arrivals }: PoolState,
  vm: string,
  now: number,
): void {
  arrivals.set(vm, now);
}

function arrival({ db, state }: PoolData, vm: string): number {
  const came = state.arrivals.get(vm);
  return came ?? startOf(db, db.get("VM", vm)) ?? -Infinity;
}

/** The VMs that run on a host, dom0 among them. */
export function vmsOn(db: Database, host: string): readonly string[] {
  return refs(db.get("host", host), "resident_VMs").filter(
    (vm) => refIn(db.get("VM", vm), "metrics") !== undefined,
  );
}

/**
 * Cores of a host that its VMs, domain 0 among them, used at a moment. Each moment is added up
 * once.
 */
export function loadOn(pool: PoolData, host: string): Load {
  const { db, state } = pool;
  const present = vmsOn(db, host).map((vm) => ({
    from: arrival(pool, vm),
    to: Infinity,
    load: loadOf(pool, vm),
  }));
  const stays = [...(state.residencies.get(host) ?? []), ...present];
  const known = new Map<number, number>();
  return (seconds) => {
    const before = known.get(seconds);
    if (before !== undefined) return before;
    let sum = 0;
    for (const { from, to, load } of stays)
      if (seconds >= from && seconds < to) sum += load(seconds);
    known.set(seconds, sum);
    return sum;
  };
}
