import { XoError } from "@xo-server/model";
import { toAlarmRule, type AlarmRule } from "../../alarms/alarm-rule.js";
import type { TargetSecret } from "../../notifications/target.js";
import type { OperationContext } from "../definition/define-operation.js";

type Context = Pick<OperationContext, "services">;

/** @throws XoError NO_SUCH_OBJECT */
export function findAlarmRule({ services }: Context, id: string): AlarmRule {
  const rule = services.store.alarmRules.get(id);
  if (rule === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "alarm rule", id });
  return toAlarmRule(rule);
}

/** The secrets of the targets of a rule, by id of the target. */
export function targetSecretsOf(
  { services }: Context,
  id: string,
): Readonly<Record<string, TargetSecret>> {
  return (services.store.alarmRules.secret(id) ?? {}) as Readonly<
    Record<string, TargetSecret>
  >;
}
