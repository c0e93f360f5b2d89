import type { PoolObjects } from "../objects/pool-objects.js";
import type { LastRun } from "./rolling-records.js";

/** Durations in seconds. */
export interface Lengths {
  /** Installation of updates and reboot of a host, until it is verified. */
  readonly host: number;
  /** Duration of the migrations of a wave, per migration of the host with the most VMs. */
  readonly move: number;
}

interface MoveOfVm {
  readonly vm: string;
  readonly from?: string | undefined;
}

/**
 * Defaults for the first run of a pool: a reboot with a memory test, an
 * installation with yum, migrations with 10 Gbit/s.
 */
const REBOOT_S = 10 * 60;
const INSTALL_S = 8 * 60;
const SECONDS_PER_GIB = 2;
const SECONDS_PER_MOVE = 8;
/** Number of concurrent migrations of a host. */
const MOVES_AT_A_TIME = 3;
const GIB = 2 ** 30;

/** Durations of the last run of the pool, if it was of the same kind. */
export function lengthsOf(
  kind: "reboot" | "update",
  last: Pick<LastRun, "kind" | "waves"> | undefined,
): Lengths | undefined {
  const waves = last?.kind === kind ? (last.waves ?? []) : [];
  const hosts = waves.map(({ emptyAt, endedAt }) => endedAt - emptyAt);
  if (hosts.length === 0) return undefined;
  const mean = hosts.reduce((sum, ms) => sum + ms, 0) / hosts.length / 1000;
  const moved = waves.filter(({ moves }) => moves > 0);
  const perMove = moved.map(
    ({ startedAt, emptyAt, moves, hosts: { length } }) =>
      (emptyAt - startedAt) / Math.ceil(moves / length),
  );
  const move =
    perMove.length === 0
      ? SECONDS_PER_MOVE
      : perMove.reduce((sum, ms) => sum + ms, 0) / perMove.length / 1000;
  return { host: mean, move };
}

/** Durations in s before the first host has been measured. */
export function defaultLengths(kind: "reboot" | "update"): Lengths {
  return { host: REBOOT_S + (kind === "update" ? INSTALL_S : 0), move: 0 };
}

/** Estimates when waves start, are evacuated and end, in seconds from the start. */
export function estimateWaves(
  waves: readonly { readonly actions: readonly MoveOfVm[] }[],
  objects: Pick<PoolObjects, "find">,
  { host, move }: Lengths,
) {
  let at = 0;
  return waves.map(({ actions }) => {
    const startsAt = Math.round(at);
    const byHost = new Map<string, number>();
    for (const { vm, from = "" } of actions) {
      const seconds = move > 0 ? move : migrationSeconds(vm, objects);
      byHost.set(from, (byHost.get(from) ?? 0) + seconds);
    }
    at += Math.max(0, ...byHost.values());
    const emptyAt = Math.round(at);
    at += host;
    return { startsAt, emptyAt, endsAt: Math.round(at) };
  });
}

function migrationSeconds(
  vm: string,
  objects: Pick<PoolObjects, "find">,
): number {
  const memory = objects.find(vm)?.object["memory"] as
    | { readonly size?: number }
    | undefined;
  const gib = (memory?.size ?? 0) / GIB;
  return (SECONDS_PER_MOVE + gib * SECONDS_PER_GIB) / MOVES_AT_A_TIME;
}
