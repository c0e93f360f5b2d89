import type { Balancing } from "./balancing.js";
import { amountOf, minus, type Amount } from "./bounds.js";
import type { Heat } from "./heat.js";

/** Hosts, VMs that leave and VMs that come in return, that are looked at. */
const MOST_HOSTS = 8;
const MOST_VMS = 16;
const ROUNDING = 1e-12;

export interface SwapSearch {
  readonly host: number;
  /** Hosts to swap with, the best first. */
  readonly targets: readonly number[];
}

interface Swap {
  readonly out: number;
  readonly back: number;
  readonly to: number;
  readonly net: number;
}

/**
 * Has a VM leave a host where none can go without another coming in return.
 * @returns whether it has found any
 */
export function findSwap(
  work: Balancing,
  heat: Heat,
  search: SwapSearch,
): boolean {
  const swaps = listSwaps(work, heat, search);
  swaps.sort((a, b) => b.net - a.net || a.out - b.out || a.back - b.back);
  return swaps.some((swap) => tryBoth(work, search.host, swap));
}

/** Those that pay. */
function listSwaps(
  work: Balancing,
  heat: Heat,
  { host, targets }: SwapSearch,
): Swap[] {
  const swaps: Swap[] = [];
  const key = toKey(work, heat, host);
  const leaving = singles(work, host).sort((a, b) => key(b) - key(a) || a - b);
  for (const to of targets.slice(0, MOST_HOSTS)) {
    const coming = singles(work, to).sort((a, b) => key(a) - key(b) || a - b);
    for (const out of leaving.slice(0, MOST_VMS))
      for (const back of coming.slice(0, MOST_VMS)) {
        const net = netOf(work, heat, { host, to, out, back });
        if (net > ROUNDING) swaps.push({ out, back, to, net });
      }
  }
  return swaps;
}

function singles(work: Balancing, host: number): number[] {
  return work
    .unitsOn(host)
    .filter(({ length }) => length === 1)
    .map((unit) => unit[0]!);
}

/** How much of what a host has too much of a VM takes. */
function toKey(
  { layout: { pool } }: Balancing,
  heat: Heat,
  host: number,
): (vm: number) => number {
  const { vmLoad, vmMemory } = pool;
  return heat.isRelievedOfCpu(host)
    ? (vm) => vmLoad[vm]!
    : (vm) => vmMemory[vm]!;
}

/** What a swap gains beyond its cost; -Infinity where it would be too much for the other host. */
function netOf(
  work: Balancing,
  heat: Heat,
  {
    host,
    to,
    out,
    back,
  }: { host: number; to: number; out: number; back: number },
): number {
  const { pool } = work.layout;
  const amount = minus(amountOf(pool, [out]), amountOf(pool, [back]));
  if (!work.bounds.staysLow(to, amount)) return -Infinity;
  if (!isReliefOnly(work, host, amount)) return -Infinity;
  return heat.gain(host, to, amount) - work.costOf([out, back]);
}

/** What a host has little of may become more, but not too much. */
function isReliefOnly(
  { bounds }: Balancing,
  host: number,
  { load, memory }: Amount,
): boolean {
  const more = { load: -load, memory: -memory };
  return (
    (load >= 0 || bounds.cpu(host, more) <= bounds.cpuLow) &&
    (memory >= 0 || bounds.memory(host, more) <= bounds.memoryLow)
  );
}

/** One after the other, whichever way there is room for. */
function tryBoth(work: Balancing, host: number, swap: Swap): boolean {
  const { out, back, to } = swap;
  const first = { vm: out, to, purpose: "overload" } as const;
  const second = { vm: back, to: host, purpose: "balance" } as const;
  return trySteps(work, [first, second]) || trySteps(work, [second, first]);
}

function trySteps(
  work: Balancing,
  steps: readonly {
    readonly vm: number;
    readonly to: number;
    readonly purpose: "overload" | "balance";
  }[],
): boolean {
  let done = 0;
  let wish = 0;
  for (const { vm, to, purpose } of steps) {
    if (!work.takes(to, [vm])) break;
    if (work.hasWishes) wish += work.wishGain(to, [vm]);
    work.move([vm], to, purpose);
    done++;
  }
  if (done === steps.length && wish >= 0) return true;
  work.undo(done);
  return false;
}
