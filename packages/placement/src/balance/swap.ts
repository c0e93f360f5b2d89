import type { BalanceSearch } from "./balance-search.js";
import { demandOf, minus, type Demand } from "./thresholds.js";
import type { Overload } from "./overload.js";

/** Limits of the hosts to swap with and of the VMs per host considered. */
const MAX_HOSTS = 8;
const MAX_VMS = 16;
const ROUNDING = 1e-12;

interface SwapSearch {
  readonly host: number;
  /** Hosts to swap with, best first. */
  readonly targets: readonly number[];
}

interface Swap {
  readonly out: number;
  readonly back: number;
  readonly to: number;
  readonly net: number;
}

/**
 * Relieves a host by swapping a VM for one of another host, when no single move
 * is possible.
 * @returns whether a swap was made
 */
export function findSwap(
  search: BalanceSearch,
  overload: Overload,
  options: SwapSearch,
): boolean {
  const swaps = listSwaps(search, overload, options);
  swaps.sort((a, b) => b.net - a.net || a.out - b.out || a.back - b.back);
  return swaps.some((swap) => tryBoth(search, options.host, swap));
}

/** Swaps that gain more than they cost. */
function listSwaps(
  search: BalanceSearch,
  overload: Overload,
  { host, targets }: SwapSearch,
): Swap[] {
  const swaps: Swap[] = [];
  const key = toKey(search, overload, host);
  const leaving = singles(search, host).sort(
    (a, b) => key(b) - key(a) || a - b,
  );
  for (const to of targets.slice(0, MAX_HOSTS)) {
    const coming = singles(search, to).sort((a, b) => key(a) - key(b) || a - b);
    for (const out of leaving.slice(0, MAX_VMS))
      for (const back of coming.slice(0, MAX_VMS)) {
        const net = netOf(search, overload, { host, to, out, back });
        if (net > ROUNDING) swaps.push({ out, back, to, net });
      }
  }
  return swaps;
}

function singles(search: BalanceSearch, host: number): number[] {
  return search
    .unitsOn(host)
    .filter(({ length }) => length === 1)
    .map((unit) => unit[0]!);
}

/** Demand of a VM for the overloaded resource. */
function toKey(
  { assignment: { pool } }: BalanceSearch,
  overload: Overload,
  host: number,
): (vm: number) => number {
  const { vmLoad, vmMemory } = pool;
  return overload.isRelievedOfCpu(host)
    ? (vm) => vmLoad[vm]!
    : (vm) => vmMemory[vm]!;
}

/**
 * Gain of a swap minus its cost; -Infinity when the other host would exceed its
 * limits.
 */
function netOf(
  search: BalanceSearch,
  overload: Overload,
  {
    host,
    to,
    out,
    back,
  }: { host: number; to: number; out: number; back: number },
): number {
  const { pool } = search.assignment;
  const amount = minus(demandOf(pool, [out]), demandOf(pool, [back]));
  if (!search.thresholds.staysBelowLow(to, amount)) return -Infinity;
  if (!isReliefOnly(search, host, amount)) return -Infinity;
  return overload.gain(host, to, amount) - search.costOf([out, back]);
}

/** Whether the use of the other resource stays below its limit. */
function isReliefOnly(
  { thresholds }: BalanceSearch,
  host: number,
  { load, memory }: Demand,
): boolean {
  const more = { load: -load, memory: -memory };
  return (
    (load >= 0 || thresholds.cpu(host, more) <= thresholds.cpuLow) &&
    (memory >= 0 || thresholds.memory(host, more) <= thresholds.memoryLow)
  );
}

/** Tries both orders of the two moves. */
function tryBoth(search: BalanceSearch, host: number, swap: Swap): boolean {
  const { out, back, to } = swap;
  const first = { vm: out, to, purpose: "overload" } as const;
  const second = { vm: back, to: host, purpose: "balance" } as const;
  return trySteps(search, [first, second]) || trySteps(search, [second, first]);
}

function trySteps(
  search: BalanceSearch,
  steps: readonly {
    readonly vm: number;
    readonly to: number;
    readonly purpose: "overload" | "balance";
  }[],
): boolean {
  let done = 0;
  let preference = 0;
  for (const { vm, to, purpose } of steps) {
    if (!search.accepts(to, [vm])) break;
    if (search.hasPreferences) preference += search.preferenceGain(to, [vm]);
    search.move([vm], to, purpose);
    done++;
  }
  if (done === steps.length && preference >= 0) return true;
  search.undo(done);
  return false;
}
