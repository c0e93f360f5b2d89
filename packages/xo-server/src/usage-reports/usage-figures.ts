import type { UsagePeriod } from "../jobs/usage-report-body.js";

/** An object and its average; percent, bytes, or bytes per second. */
export interface Consumer {
  readonly id: string;
  readonly name: string;
  readonly value: number;
}

/** Lists of top consumers, the highest first. */
export const topLists = [
  "vmCpu",
  "vmMemory",
  "vmDisk",
  "vmNetwork",
  "hostCpu",
  "hostMemory",
  "srs",
] as const;
export type TopList = (typeof topLists)[number];

/**
 * Figures of a pool that are compared with the previous period. Sizes in bytes;
 * null: not known.
 */
interface PoolTotals {
  readonly id: string;
  readonly name: string;
  readonly hosts: number;
  readonly vms: number;
  readonly runningVms: number;
  /** Average of its hosts, percent. */
  readonly cpu: number | null;
  /** Average of the sum of its hosts. */
  readonly memory: number | null;
  readonly memorySize: number;
  readonly storage: number;
  readonly storageSize: number;
}

export interface PoolFigures extends PoolTotals {
  readonly top: Readonly<Record<TopList, readonly Consumer[]>>;
  /** Names of hosts without measurements. */
  readonly silentHosts: readonly string[];
  /** Totals of the previous period; absent: there is none. */
  readonly before?: PoolTotals;
}

export interface UsageFigures {
  readonly period: UsagePeriod;
  /** ms since the epoch */
  readonly from: number;
  readonly to: number;
  /** When the previous period was reported, in ms since the epoch. */
  readonly comparedWith?: number;
  readonly pools: readonly PoolFigures[];
  /** Pools of the previous period that no longer exist. */
  readonly lostPools: readonly string[];
}

/** The part of a report that is stored with its run, for the next comparison. */
export interface StoredUsage {
  readonly to: number;
  readonly pools: readonly PoolTotals[];
}

/** The part of a report that the next one is compared with. */
export function toStored({ to, pools }: UsageFigures): StoredUsage {
  return {
    to,
    pools: pools.map(({ top, silentHosts, before, ...totals }) => {
      void [top, silentHosts, before];
      return totals;
    }),
  };
}

/** Adds the totals of the previous period to the figures. */
export function compare(
  figures: UsageFigures,
  last: StoredUsage | undefined,
): UsageFigures {
  if (last === undefined) return figures;
  const before = new Map(last.pools.map((pool) => [pool.id, pool]));
  const now = new Set(figures.pools.map(({ id }) => id));
  return {
    ...figures,
    comparedWith: last.to,
    pools: figures.pools.map((pool) => {
      const own = before.get(pool.id);
      return own === undefined ? pool : { ...pool, before: own };
    }),
    lostPools: last.pools
      .filter(({ id }) => !now.has(id))
      .map(({ name }) => name),
  };
}
