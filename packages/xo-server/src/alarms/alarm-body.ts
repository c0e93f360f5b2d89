import type { Alarm } from "@xo-server/store";
import type { Match } from "./match.js";
import type { AlarmRule, Severity } from "./alarm-rule.js";

/** The stored description of an alarm, as it was when the alarm was raised. */
interface AlarmBody extends Omit<Match, "key" | "objectId"> {
  readonly ruleName: string;
  readonly severity: Severity;
  /** Id of the message or task that caused it. */
  readonly source?: string;
}

/** Describes an alarm for the database, as the rule and the object are now. */
export function toBody(
  { name: ruleName, severity }: AlarmRule,
  { type, name, pool, value, text }: Match,
): AlarmBody {
  return {
    ruleName,
    severity,
    type,
    name,
    ...(pool === undefined ? {} : { pool }),
    ...(value === undefined || !Number.isFinite(value) ? {} : { value }),
    // XAPI's messages can have several kB.
    ...(text === undefined ? {} : { text: text.slice(0, 1_024) }),
  };
}

/** Reads what `toBody` has described. */
export function bodyOf({ body }: Pick<Alarm, "body">): AlarmBody {
  // Written by this module only.
  return body as AlarmBody;
}
