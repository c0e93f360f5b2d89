import { XoError } from "@xo-server/model";
import { toRule, type Rule } from "../alarms/rule.js";
import type { TargetSecret } from "../notifications/target.js";
import type { OperationContext } from "./define-operation.js";

type Context = Pick<OperationContext, "services">;

/** @throws XoError NO_SUCH_OBJECT */
export function findAlarmRule({ services }: Context, id: string): Rule {
  const rule = services.store.alarmRules.get(id);
  if (rule === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "alarm rule", id });
  return toRule(rule);
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
