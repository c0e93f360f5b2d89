import type { Alarm } from "@xo-server/store";
import type { Finding } from "./finding.js";
import type { Rule, Severity } from "./rule.js";

/** What an alarm says of itself, kept as it was when it began. */
export interface AlarmBody extends Omit<Finding, "key" | "objectId"> {
  readonly ruleName: string;
  readonly severity: Severity;
  /** Id of the message or task that it is of. */
  readonly source?: string;
}

export function toBody(
  { name: ruleName, severity }: Rule,
  { type, name, pool, value, text }: Finding,
): AlarmBody {
  return {
    ruleName,
    severity,
    type,
    name,
    ...(pool === undefined ? {} : { pool }),
    ...(value === undefined || !Number.isFinite(value) ? {} : { value }),
    // XAPI's messages have up to some kilobytes.
    ...(text === undefined ? {} : { text: text.slice(0, 1_024) }),
  };
}

export function bodyOf({ body }: Pick<Alarm, "body">): AlarmBody {
  // Nobody else writes there.
  return body as AlarmBody;
}
