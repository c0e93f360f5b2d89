import { parseFilter, type Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { checkProperties } from "../objects/known-properties.js";
import { nowMetricIndex } from "./condition-filter.js";
import {
  isServerMetric,
  SERVER_TYPE,
  serverMetrics,
} from "./server-metrics.js";
import type {
  Condition,
  StatisticCondition,
  AlarmRuleBody,
} from "./alarm-rule.js";

/**
 * @throws XoError INVALID_PARAMETERS, FILTER_INVALID: the condition can never
 *   match
 */
export function checkCondition(
  on: Condition,
  catalog: Pick<Catalog, "classOf">,
): void {
  if (on.kind === "pool") return;
  parseFilter(on.filter ?? "");
  if (on.kind === "message" || on.kind === "task") return;
  if (on.type === SERVER_TYPE && on.kind === "statistic")
    checkServerCondition(on);
  else if (catalog.classOf(on.type) === undefined)
    throw invalid(`unknown object type: ${on.type}`);
  else
    checkProperties(on.kind === "object" ? on : { ...on, paths: pathsOf(on) });
  if (on.kind === "object") return;
  for (const path of pathsOf(on))
    if (/^now([.:]|$)/.test(path) && nowMetricIndex(path) < 0)
      throw invalid(`unknown metric: ${path}`);
  const { comparison, threshold, clearsAt = threshold } = on;
  if (comparison === ">" ? clearsAt > threshold : clearsAt < threshold)
    throw invalid(
      `clearsAt must be ${comparison === ">" ? "at or below" : "at or above"} the threshold when comparison is "${comparison}"`,
    );
}

function checkServerCondition({
  metric,
  of,
  filter = "",
}: StatisticCondition): void {
  if (!isServerMetric(metric))
    throw invalid(
      `unknown metric of the server: ${metric}; known: ${serverMetrics.join(", ")}`,
    );
  if (of !== undefined || filter !== "")
    throw invalid("a rule for the server has neither of nor filter");
}

function pathsOf({ metric, of = metric }: StatisticCondition): string[] {
  return [metric, of];
}

/** Default duration of statistics rules, in seconds: shorter peaks are normal. */
const DEFAULT_FOR_SECONDS = 60;
/** Default hysteresis of statistics rules, as a share of the threshold. */
const DEFAULT_HYSTERESIS = 0.05;

/**
 * Defaults of new rules: without them a value around the threshold would raise
 * and clear an alarm with each measurement.
 */
export function withNewRuleDefaults<
  T extends { readonly on: Condition; readonly forSeconds?: number },
>(input: T): T {
  const { on, forSeconds = DEFAULT_FOR_SECONDS } = input;
  if (on.kind !== "statistic") return input;
  const { comparison, threshold } = on;
  const margin = Math.abs(threshold) * DEFAULT_HYSTERESIS;
  const back = comparison === ">" ? threshold - margin : threshold + margin;
  const clearsAt = on.clearsAt ?? Number(back.toPrecision(12));
  return { ...input, forSeconds, on: { ...on, clearsAt } };
}

/** Completes a rule with the defaults. */
export function toRuleBody(
  input: Partial<AlarmRuleBody> & Pick<AlarmRuleBody, "on">,
): AlarmRuleBody {
  return {
    enabled: input.enabled ?? true,
    severity: input.severity ?? "warning",
    on: withDottedPaths(input.on),
    forSeconds: input.forSeconds ?? 0,
    remindEverySeconds: input.remindEverySeconds ?? 0,
    notifyOnClear: input.notifyOnClear ?? true,
    targets: input.targets ?? [],
  };
}

/** Rules are stored with `memory.size`, also when given with `memory:size`. */
function withDottedPaths(on: Condition): Condition {
  if (on.kind !== "statistic") return on;
  const toDots = (path: string) => path.replaceAll(":", ".");
  return {
    ...on,
    metric: toDots(on.metric),
    ...(on.of === undefined ? {} : { of: toDots(on.of) }),
  };
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
