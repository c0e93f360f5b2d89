import {
  formatFilter,
  metricNames,
  parseFilter,
  type Filter,
  type LiveRequest,
} from "@xo-server/inventory";
import type { Condition, StatisticCondition } from "./alarm-rule.js";

/**
 * Maximum number of objects per rule. If all of them change, they are processed at
 * once, which takes some milliseconds.
 */
const MAX_WATCHED = 2_000;

type Objects = Extract<Condition, { kind: "statistic" | "object" }>;

/**
 * The live query for objects that match a condition or are in its hysteresis
 * range.
 * @throws XoError FILTER_INVALID
 */
export function toLiveRequest(condition: Objects): LiveRequest {
  const own = parseFilter(condition.filter ?? "");
  const terms =
    condition.kind === "statistic" && condition.of === undefined
      ? [own, beyond(condition)]
      : [own];
  return {
    type: condition.type,
    filter: formatFilter({ kind: "and", terms }),
    sort: [],
    offset: 0,
    limit: MAX_WATCHED,
    fields: fieldsOf(condition),
  };
}

/** The value at which an alarm is cleared. */
export function clearThreshold({
  comparison,
  threshold,
  clearsAt = threshold,
}: StatisticCondition): number {
  return comparison === ">"
    ? Math.min(clearsAt, threshold)
    : Math.max(clearsAt, threshold);
}

/** Position of `now.cpu` and others in the rows of metrics; -1: another property. */
export function nowMetricIndex(path: string): number {
  return metricNames.findIndex(
    (name) => path.replace(":", ".") === `now.${name}`,
  );
}

function beyond(condition: StatisticCondition): Filter {
  const term: Filter = {
    kind: "compare",
    operator: condition.comparison,
    number: clearThreshold(condition),
  };
  return condition.metric
    .split(".")
    .reduceRight<Filter>(
      (inner, name) => ({ kind: "property", name, term: inner }),
      term,
    );
}

function fieldsOf(condition: Objects): string[] {
  const fields = ["name_label"];
  if (condition.kind === "object") return fields;
  for (const path of [condition.metric, condition.of ?? condition.metric])
    fields.push(nowMetricIndex(path) < 0 ? path.split(".")[0]! : path);
  return fields;
}
