import type { Json } from "@xo-server/kit";

export const modes = ["off", "dry-run", "automatic"] as const;
type Mode = (typeof modes)[number];

/** How a pool is balanced, as `balancer.getPolicy` returns it. Shares are 0 to 1. */
export interface Policy {
  readonly mode: Mode;
  readonly goal: "performance" | "consolidate";
  readonly cpuHigh: number;
  readonly cpuLow: number;
  readonly memoryHigh: number;
  /** Required gain per GiB of migrated memory. */
  readonly migrationCost: number;
  readonly maxMigrationsPerRun: number;
  readonly parallel: number;
  readonly intervalSeconds: number;
  readonly coolDownSeconds: number;
  readonly holdSeconds: number;
  readonly excludedTags: readonly string[];
  readonly enforceRules: boolean;
}

/** Values of the form fields: shares in percent, numbers as typed. */
export interface PolicyEntries {
  mode: Mode;
  goal: Policy["goal"];
  cpuHigh: number;
  cpuLow: number;
  memoryHigh: number;
  migrationCost: string;
  maxMigrationsPerRun: string;
  parallel: string;
  intervalSeconds: string;
  /** Minutes. */
  coolDown: string;
  /** Minutes. */
  hold: string;
  /** Separated by commas. */
  excludedTags: string;
  enforceRules: boolean;
}

/** Shares become percent, seconds of long times minutes. */
export function toEntries(policy: Policy): PolicyEntries {
  const percent = (share: number) => Math.round(share * 100);
  const minutes = (seconds: number) =>
    String(Number((seconds / 60).toFixed(2)));
  return {
    mode: policy.mode,
    goal: policy.goal,
    enforceRules: policy.enforceRules,
    cpuHigh: percent(policy.cpuHigh),
    cpuLow: percent(policy.cpuLow),
    memoryHigh: percent(policy.memoryHigh),
    migrationCost: String(policy.migrationCost),
    maxMigrationsPerRun: String(policy.maxMigrationsPerRun),
    parallel: String(policy.parallel),
    intervalSeconds: String(policy.intervalSeconds),
    coolDown: minutes(policy.coolDownSeconds),
    hold: minutes(policy.holdSeconds),
    excludedTags: policy.excludedTags.join(", "),
  };
}

/** Ranges that the server accepts: integers, or minutes of whole seconds. */
const bounds = {
  maxMigrationsPerRun: { least: 1, most: 100, isWhole: true },
  parallel: { least: 1, most: 16, isWhole: true },
  intervalSeconds: { least: 10, most: 86_400, isWhole: true },
  coolDown: { least: 0, most: 1_440, isWhole: false },
  hold: { least: 0, most: 1_440, isWhole: false },
  migrationCost: { least: 0, most: 1, isWhole: false },
} as const;
type Bounded = keyof typeof bounds;

type PolicyInputError =
  | {
      readonly inputError: "number";
      readonly least: number;
      readonly most: number;
    }
  | { readonly inputError: "crossed" };
type PolicyInputErrors = Partial<Record<keyof PolicyEntries, PolicyInputError>>;

/** What is wrong in the form, by field; empty: it can be sent. */
export function inputErrorsOf(entries: PolicyEntries): PolicyInputErrors {
  const inputErrors: PolicyInputErrors = {};
  for (const [field, { least, most, isWhole }] of Object.entries(bounds)) {
    const value = toNumber(entries[field as Bounded]);
    const isFine =
      value >= least && value <= most && (!isWhole || Number.isInteger(value));
    if (!isFine)
      inputErrors[field as Bounded] = { inputError: "number", least, most };
  }
  if (entries.cpuLow >= entries.cpuHigh)
    inputErrors.cpuLow = { inputError: "crossed" };
  return inputErrors;
}

/** The parameters of `balancer.setPolicy`, without the pool. */
export function toPolicy(entries: PolicyEntries): Record<string, Json> {
  const { mode, goal, enforceRules, cpuHigh, cpuLow, memoryHigh } = entries;
  const seconds = (minutes: string) => Math.round(toNumber(minutes) * 60);
  return {
    mode,
    goal,
    enforceRules,
    cpuHigh: cpuHigh / 100,
    cpuLow: cpuLow / 100,
    memoryHigh: memoryHigh / 100,
    migrationCost: toNumber(entries.migrationCost),
    maxMigrationsPerRun: toNumber(entries.maxMigrationsPerRun),
    parallel: toNumber(entries.parallel),
    intervalSeconds: toNumber(entries.intervalSeconds),
    coolDownSeconds: seconds(entries.coolDown),
    holdSeconds: seconds(entries.hold),
    excludedTags: tagsOf(entries.excludedTags),
  };
}

function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

/** Parses a number with a decimal point or comma; NaN: not a number. */
export function toNumber(text: string): number {
  const input = text.trim().replace(",", ".");
  return input === "" ? NaN : Number(input);
}
