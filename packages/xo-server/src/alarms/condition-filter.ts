import {
  formatFilter,
  metricNames,
  parseFilter,
  type Filter,
  type LiveRequest,
} from "@xo-server/inventory";
import type { Condition, StatisticCondition } from "./rule.js";

/** Objects that a rule follows at a time, at most: what they tell at once is looked at in one go, some milliseconds. */
export const MOST_WATCHED = 2_000;

type Objects = Extract<Condition, { kind: "statistic" | "object" }>;

/**
 * The live query that has all objects of which a condition holds, or hovers.
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
    limit: MOST_WATCHED,
    fields: fieldsOf(condition),
  };
}

/** Where alarms end, of a number that is above or below its threshold. */
export function endsAt({
  comparison,
  threshold,
  clearsAt = threshold,
}: StatisticCondition): number {
  return comparison === ">"
    ? Math.min(clearsAt, threshold)
    : Math.max(clearsAt, threshold);
}

export function nowMetricIndex(path: string): number {
  return metricNames.findIndex((name) => path === `now.${name}`);
}

function beyond(condition: StatisticCondition): Filter {
  const term: Filter = {
    kind: "compare",
    operator: condition.comparison,
    number: endsAt(condition),
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
