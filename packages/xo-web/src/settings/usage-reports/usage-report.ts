import type { Json } from "@xo-server/kit";

export const usagePeriods = ["day", "week", "month"] as const;
type UsagePeriod = (typeof usagePeriods)[number];

/** A job that sends usage reports, as `job.getAll` returns it. */
export interface UsageReportJob {
  readonly id: string;
  readonly name: string;
  readonly type: "usageReport";
  /** Ids; absent: all. */
  readonly pools?: readonly string[];
  readonly period?: UsagePeriod;
  readonly top?: number;
  readonly addresses: readonly string[];
}

/** Figures of a pool, as `job.plan` returns them. Sizes in bytes; null: not known. */
export interface PoolTotals {
  readonly id: string;
  readonly name: string;
  readonly hosts: number;
  readonly vms: number;
  readonly runningVms: number;
  /** Percent. */
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly memorySize: number;
  readonly storage: number;
  readonly storageSize: number;
}

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

export interface UsagePlan {
  readonly subject: string;
  readonly addresses: readonly string[];
  readonly figures: {
    readonly comparedWith?: number;
    readonly lostPools: readonly string[];
    readonly pools: readonly (PoolTotals & {
      readonly before?: PoolTotals;
      readonly silentHosts: readonly string[];
      readonly top: Readonly<
        Record<
          TopList,
          readonly {
            readonly id: string;
            readonly name: string;
            readonly value: number;
          }[]
        >
      >;
    })[];
  };
}

/** Values of the form fields, as typed. */
interface UsageEntries {
  name: string;
  allPools: boolean;
  pools: readonly string[];
  period: UsagePeriod;
  top: string;
  addresses: string;
}

type UsageInputError = "required" | "pools" | "number" | "addresses";
export type UsageInputErrors = Partial<
  Record<keyof UsageEntries, UsageInputError>
>;

/** What the server accepts: an address without a name. */
const ADDRESS = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;
const MAX_ADDRESSES = 50;
const MAX_TOP = 100;

/** Initial values of the form. @param job undefined: a new one */
export function toUsageEntries(job: UsageReportJob | undefined): UsageEntries {
  return {
    name: job?.name ?? "",
    allPools: job?.pools === undefined,
    pools: job?.pools ?? [],
    period: job?.period ?? "week",
    top: String(job?.top ?? 10),
    addresses: (job?.addresses ?? []).join(", "),
  };
}

/** What is wrong in the form, by field; empty: it can be sent. */
export function usageInputErrorsOf(entries: UsageEntries): UsageInputErrors {
  const inputErrors: UsageInputErrors = {};
  if (entries.name.trim() === "") inputErrors.name = "required";
  if (!entries.allPools && entries.pools.length === 0)
    inputErrors.pools = "pools";
  const top = Number(entries.top);
  if (!Number.isInteger(top) || top < 1 || top > MAX_TOP)
    inputErrors.top = "number";
  const addresses = toAddresses(entries.addresses);
  const isRight = (one: string) => ADDRESS.test(one) && one.length <= 254;
  if (addresses.length === 0) inputErrors.addresses = "required";
  else if (addresses.length > MAX_ADDRESSES || !addresses.every(isRight))
    inputErrors.addresses = "addresses";
  return inputErrors;
}

/** The parameter `job` of `job.create` and `job.set`; null removes a property. */
export function toUsageJob(
  entries: UsageEntries,
  before: UsageReportJob | undefined,
): Readonly<Record<string, Json>> {
  const pools = entries.allPools
    ? before?.pools === undefined
      ? {}
      : { pools: null }
    : { pools: [...entries.pools] };
  return {
    type: "usageReport",
    name: entries.name.trim(),
    ...pools,
    period: entries.period,
    top: Number(entries.top),
    addresses: [...toAddresses(entries.addresses)],
  };
}

function toAddresses(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((one) => one !== "");
}
