import { sizeText } from "../notifications/size-text.js";
import { SERVER_TYPE } from "./server-metrics.js";
import type { Condition, StatisticCondition } from "./alarm-rule.js";

/** Last parts of paths of sizes in bytes. */
const SIZES = /(^|\.)(memory|size|usage|physical_usage|chainPhysicalUsage)$/;
const RATES = /^now\.(disk|network)$/;

/**
 * The condition of a rule in words: `VM now.cpu > 80% for 60 s, cleared at 76%`.
 * @returns undefined: a notice of release 0.2, without its condition
 */
export function conditionText({
  on,
  forSeconds = 0,
}: {
  readonly on?: Condition;
  readonly forSeconds?: number;
}): string | undefined {
  if (on === undefined) return undefined;
  const duration = forSeconds > 0 ? ` for ${forSeconds} s` : "";
  return `${subjectOf(on)}${duration}${clearOf(on)}`;
}

function subjectOf(on: Condition): string {
  switch (on.kind) {
    case "statistic": {
      const of = on.of === undefined ? "" : ` of ${on.of}`;
      return `${on.type} ${on.metric}${of} ${on.comparison} ${valueText(on.threshold, on)}${filterOf(on)}`;
    }
    case "object":
      return `${on.type} with ${on.filter}`;
    case "message":
      return `XAPI message${filterOf(on)}`;
    case "task":
      return `failed XAPI task${filterOf(on)}`;
    case "pool":
      return "pool not connected";
  }
}

function filterOf({ filter = "" }: { readonly filter?: string }): string {
  return filter === "" ? "" : ` with ${filter}`;
}

function clearOf(on: Condition): string {
  return on.kind === "statistic" && on.clearsAt !== undefined
    ? `, cleared at ${valueText(on.clearsAt, on)}`
    : "";
}

/** A value of the metric of a condition, with its unit. */
export function valueText(value: number, on: Condition | undefined): string {
  if (on?.kind !== "statistic") return toText(value);
  if (isShare(on)) return `${toText(value * 100)}%`;
  const { type, metric } = on;
  if (type === SERVER_TYPE) return `${toText(value)} days`;
  if (RATES.test(metric)) return `${sizeText(value)}/s`;
  return SIZES.test(metric) ? sizeText(value) : toText(value);
}

function isShare({ type, metric, of }: StatisticCondition): boolean {
  if (of !== undefined || metric === "now.cpu") return true;
  return type === SERVER_TYPE && metric.endsWith(".usage");
}

function toText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
