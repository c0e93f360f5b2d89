import type { Json } from "@xo-server/kit";
import {
  targetInputError,
  toTarget,
  toTargetEntries,
  type AlarmTarget,
  type TargetEntries,
  type TargetInputError,
} from "./target.js";

export const severities = ["info", "warning", "critical"] as const;
type Severity = (typeof severities)[number];

/** An alarm rule as `alarmRule.getAll` returns it. */
export interface AlarmRule {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly on: Condition;
  readonly forSeconds: number;
  readonly remindEverySeconds: number;
  readonly notifyOnClear: boolean;
  readonly targets: readonly AlarmTarget[];
  readonly open: number;
  readonly others: number;
  readonly problem?: string;
  readonly undelivered: readonly {
    readonly targetId: string;
    readonly error: string;
    readonly attempts: number;
  }[];
}

interface Condition {
  readonly kind: ConditionKind;
  readonly type?: string;
  readonly filter?: string;
  readonly metric?: string;
  readonly of?: string;
  readonly comparison?: ">" | "<";
  readonly threshold?: number;
  readonly clearsAt?: number;
}

export const conditionKinds = [
  "statistic",
  "object",
  "message",
  "task",
  "pool",
] as const;
type ConditionKind = (typeof conditionKinds)[number];

/** Unit in which a number is shown and typed. */
type MetricUnit = "percent" | "MiB" | "MBps" | "days" | "plain";

const metrics: Readonly<Record<string, MetricUnit>> = {
  "now.cpu": "percent",
  "now.memory": "MiB",
  "now.disk": "MBps",
  "now.network": "MBps",
  physical_usage: "percent",
  // Of the server itself.
  "disk.usage": "percent",
  "memory.usage": "percent",
  "certificate.days": "days",
  "updates.hosts": "plain",
  "versions.pools": "plain",
  "backup.failed": "plain",
  "backup.mismatches": "plain",
  "backup.unprotected": "plain",
  "backup.days": "days",
  "backup.damaged": "plain",
  "backup.unreachable": "plain",
  "servers.lost": "plain",
};

/** Metrics of a type; `server` is the server itself. */
export function metricsOf(type: string): string[] {
  const ofServer = [
    "disk.usage",
    "memory.usage",
    "certificate.days",
    "updates.hosts",
    "versions.pools",
    "backup.failed",
    "backup.mismatches",
    "backup.unprotected",
    "backup.days",
    "backup.damaged",
    "backup.unreachable",
    "servers.lost",
  ];
  return Object.keys(metrics).filter(
    (metric) => ofServer.includes(metric) === (type === "server"),
  );
}

const factors: Readonly<Record<MetricUnit, number>> = {
  percent: 0.01,
  MiB: 2 ** 20,
  MBps: 1e6,
  days: 1,
  plain: 1,
};

/** The unit in which a threshold is entered. */
export function unitOf(metric: string, isShare: boolean): MetricUnit {
  if (isShare) return "percent";
  const known = Object.hasOwn(metrics, metric) ? metrics[metric]! : "plain";
  // A size, unless it is a share.
  return metric === "physical_usage" ? "plain" : known;
}

/** Values of the form fields. */
interface AlarmRuleEntries {
  name: string;
  enabled: boolean;
  severity: Severity;
  kind: ConditionKind;
  type: string;
  filter: string;
  metric: string;
  /** Path of the whole that the metric is a share of; empty: not a share. */
  of: string;
  comparison: ">" | "<";
  threshold: string;
  clearsAt: string;
  forMinutes: string;
  remindHours: string;
  notifyOnClear: boolean;
  targets: TargetEntries[];
}

/**
 * Initial values of the form; numbers in the units that the form shows. @param
 * rule undefined: a new one
 */
export function toEntries(rule: AlarmRule | undefined): AlarmRuleEntries {
  const on = rule?.on ?? {
    kind: "statistic" as const,
    type: "VM",
    metric: "now.cpu",
    comparison: ">" as const,
    threshold: 0.9,
    clearsAt: 0.7,
  };
  const metric = on.metric ?? "now.cpu";
  const factor = factors[unitOf(metric, on.of !== undefined)];
  const typed = (value: number | undefined) =>
    value === undefined ? "" : String(round(value / factor));
  return {
    name: rule?.name ?? "",
    enabled: rule?.enabled ?? true,
    severity: rule?.severity ?? "warning",
    kind: on.kind,
    type: on.type ?? "VM",
    filter: on.filter ?? "",
    metric,
    of: on.of ?? "",
    comparison: on.comparison ?? ">",
    threshold: typed(on.threshold),
    clearsAt: typed(on.clearsAt),
    forMinutes: String(round((rule?.forSeconds ?? 300) / 60)),
    remindHours: String(round((rule?.remindEverySeconds ?? 0) / 3600)),
    notifyOnClear: rule?.notifyOnClear ?? true,
    targets: (rule?.targets ?? []).map(toTargetEntries),
  };
}

type AlarmRuleInputError =
  | "required"
  | "number"
  | "clearsAt"
  | "filter"
  | TargetInputError;

/** Input errors by field; those of targets as `target0`, `target1` ... */
export function inputErrorsOf(
  entries: AlarmRuleEntries,
): Readonly<Record<string, AlarmRuleInputError>> {
  const inputErrors: Record<string, AlarmRuleInputError> = {};
  if (entries.name.trim() === "") inputErrors["name"] = "required";
  if (!isNumber(entries.forMinutes, 1_440))
    inputErrors["forMinutes"] = "number";
  if (!isNumber(entries.remindHours, 720))
    inputErrors["remindHours"] = "number";
  if (entries.kind === "object" && entries.filter.trim() === "")
    inputErrors["filter"] = "filter";
  if (entries.kind === "statistic")
    Object.assign(inputErrors, numberInputErrors(entries));
  for (const [i, target] of entries.targets.entries()) {
    const inputError = targetInputError(target);
    if (inputError !== undefined) inputErrors[`target${i}`] = inputError;
  }
  return inputErrors;
}

function numberInputErrors(
  entries: AlarmRuleEntries,
): Record<string, AlarmRuleInputError> {
  const { threshold, clearsAt, comparison, metric } = entries;
  if (metric.trim() === "") return { metric: "required" };
  if (!isNumber(threshold)) return { threshold: "number" };
  if (clearsAt.trim() === "") return {};
  if (!isNumber(clearsAt)) return { clearsAt: "number" };
  const isBeyond =
    comparison === ">"
      ? toNumber(clearsAt) > toNumber(threshold)
      : toNumber(clearsAt) < toNumber(threshold);
  return isBeyond ? { clearsAt: "clearsAt" } : {};
}

/** Properties of a rule that a message needs; undefined: fields are missing. */
export function toExample(
  entries: AlarmRuleEntries,
): Readonly<Record<string, Json>> | undefined {
  const inputErrors = Object.keys(inputErrorsOf(entries));
  if (inputErrors.some((field) => !field.startsWith("target")))
    return undefined;
  const { name, severity, on, forSeconds } = toRule(entries);
  return { name: name!, severity: severity!, on: on!, forSeconds: forSeconds! };
}

/** The parameters of `alarmRule.create` and `alarmRule.set` but the id. */
export function toRule(
  entries: AlarmRuleEntries,
): Readonly<Record<string, Json>> {
  return {
    name: entries.name.trim(),
    enabled: entries.enabled,
    severity: entries.severity,
    notifyOnClear: entries.notifyOnClear,
    on: toCondition(entries),
    forSeconds: Math.round(toNumber(entries.forMinutes) * 60),
    remindEverySeconds: Math.round(toNumber(entries.remindHours) * 3600),
    targets: entries.targets.map(toTarget),
  };
}

function toCondition(
  entries: AlarmRuleEntries,
): Readonly<Record<string, Json>> {
  const { kind, type, metric, of, comparison } = entries;
  const filter = entries.filter.trim();
  const input = filter === "" ? {} : { filter };
  switch (kind) {
    case "pool":
      return { kind };
    case "message":
    case "task":
      return { kind, ...input };
    case "object":
      return { kind, type, filter };
    case "statistic": {
      const factor = factors[unitOf(metric, of !== "")];
      const { threshold, clearsAt } = entries;
      return {
        kind,
        type,
        ...input,
        metric: metric.trim(),
        comparison,
        ...(of.trim() === "" ? {} : { of: of.trim() }),
        threshold: exact(toNumber(threshold) * factor),
        ...(clearsAt.trim() === ""
          ? {}
          : { clearsAt: exact(toNumber(clearsAt) * factor) }),
      };
    }
  }
}

function isNumber(text: string, most = Infinity): boolean {
  const value = toNumber(text);
  return text.trim() !== "" && value >= 0 && value <= most;
}

/** Removes errors of binary fractions: 70 % is 0.7. */
function exact(value: number): number {
  return Number(value.toPrecision(12));
}

/** The decimal separator is a point or a comma. */
function toNumber(text: string): number {
  return Number(text.trim().replace(",", "."));
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** A threshold in the unit of its metric. */
export function shownThreshold(
  { metric = "", of }: Condition,
  value: number,
): { readonly value: number; readonly unit: MetricUnit } {
  const unit = unitOf(metric, of !== undefined);
  return { value: round(value / factors[unit]), unit };
}
