import type { Alarm, NewNotice } from "@xo-server/store";
import { bodyOf } from "./alarm-body.js";
import type { Rule, Severity } from "./rule.js";

/** What a message is about. */
export type Occasion = "raised" | "ended" | "reminder" | "test";

/** One alarm in a message. */
export interface NoticeAlarm {
  readonly id: string;
  readonly objectId?: string;
  readonly type: string;
  readonly name: string;
  readonly value?: number;
  readonly text?: string;
  /** ISO 8601 */
  readonly since: string;
  readonly until?: string;
}

/** What is told of a rule in one message: web hooks get it as JSON. */
export interface NoticeBody {
  readonly event: Occasion;
  /** ISO 8601 */
  readonly time: string;
  readonly rule: {
    readonly id: string;
    readonly name: string;
    readonly severity: Severity;
  };
  /** Some of them. */
  readonly alarms: readonly NoticeAlarm[];
  /** How many there are: with those that are left out here, and those that are not kept. */
  readonly total: number;
}

/** Alarms that a message names; of more it says how many. */
const MOST_NAMED = 20;

export function toNoticeBody(
  rule: Rule,
  event: Occasion,
  about: {
    readonly alarms: readonly Alarm[];
    readonly others?: number;
    readonly now: number;
  },
): NoticeBody {
  const { id, name, severity } = rule;
  return {
    event,
    time: new Date(about.now).toISOString(),
    rule: { id, name, severity },
    alarms: about.alarms.slice(0, MOST_NAMED).map(toNoticeAlarm),
    total: about.alarms.length + (about.others ?? 0),
  };
}

/** One message to each that the rule tells. */
export function toNotices(rule: Rule, body: NoticeBody): NewNotice[] {
  if (body.total === 0) return [];
  return rule.sendTo.map(({ id }) => ({
    ruleId: rule.id,
    targetId: id,
    body,
  }));
}

function toNoticeAlarm(alarm: Alarm): NoticeAlarm {
  const { type, name, value, text } = bodyOf(alarm);
  return {
    id: alarm.id,
    ...(alarm.objectId === undefined ? {} : { objectId: alarm.objectId }),
    type,
    name,
    ...(value === undefined ? {} : { value }),
    ...(text === undefined ? {} : { text }),
    since: new Date(alarm.beganAt).toISOString(),
    ...(alarm.endedAt === undefined
      ? {}
      : { until: new Date(alarm.endedAt).toISOString() }),
  };
}
