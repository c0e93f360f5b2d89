import type { Retention } from "../../jobs/retention.js";
import { isObject } from "./contract-pattern.js";

type Settings = Readonly<Record<string, unknown>>;

const PERIODS = {
  daily: "keepDaily",
  weekly: "keepWeekly",
  monthly: "keepMonthly",
  yearly: "keepYearly",
} as const;

/** The retention of settings of clients of Xen Orchestra: `exportRetention`, `longTermRetention`. */
export function fromContractRetention({
  exportRetention,
  longTermRetention,
}: Settings): Retention {
  const retention: Record<string, number> = {
    keepLast: typeof exportRetention === "number" ? exportRetention : 0,
  };
  if (isObject(longTermRetention))
    for (const [contractName, name] of Object.entries(PERIODS)) {
      const period = longTermRetention[contractName];
      const count = isObject(period) ? period["retention"] : period;
      if (typeof count === "number") retention[name] = count;
    }
  if (!Object.values(retention).some((count) => count > 0))
    retention["keepLast"] = 1;
  return retention;
}

/** Xen Orchestra's settings of the retention: `exportRetention` and `longTermRetention`. */
export function toContractRetention(retention: Retention): Settings {
  const longTerm = Object.entries(PERIODS).flatMap(([contractName, name]) => {
    const count = retention[name] ?? 0;
    return count === 0 ? [] : [[contractName, { retention: count }] as const];
  });
  return {
    exportRetention: retention.keepLast ?? 0,
    ...(longTerm.length === 0
      ? {}
      : { longTermRetention: Object.fromEntries(longTerm) }),
  };
}
