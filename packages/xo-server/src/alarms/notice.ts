import type { Alarm, NewNotice } from "@xo-server/store";
import { bodyOf } from "./alarm-body.js";
import type { Condition, AlarmRule, Severity } from "./alarm-rule.js";

/** Why a notice is sent. */
export type NoticeEvent = "raised" | "ended" | "reminder" | "test";

/** One alarm of a notice. */
export interface NoticeAlarm {
  readonly id: string;
  readonly objectId?: string;
  readonly type: string;
  readonly name: string;
  /** Name of the pool of the object. */
  readonly pool?: string;
  /** Page of the object. */
  readonly url?: string;
  readonly value?: number;
  readonly text?: string;
  /** ISO 8601 */
  readonly since: string;
  readonly until?: string;
}

/** A notice of a rule. Webhooks receive it as JSON. */
export interface NoticeBody {
  readonly event: NoticeEvent;
  /** ISO 8601 */
  readonly time: string;
  readonly rule: {
    readonly id: string;
    readonly name: string;
    readonly severity: Severity;
    /** Absent in notices that were queued by release 0.2. */
    readonly on?: Condition;
    readonly forSeconds?: number;
  };
  /** At most 20 alarms. */
  readonly alarms: readonly NoticeAlarm[];
  /**
   * Total number of alarms, including those that are not listed or not
   * recorded.
   */
  readonly total: number;
}

/** Maximum number of alarms listed in a notice. */
const MAX_NAMED = 20;

/**
 * @param about `alarms` of the notice, and how many more there are (`omitted`);
 *   `now` in ms since the epoch
 */
export function toNoticeBody(
  rule: AlarmRule,
  event: NoticeEvent,
  about: {
    readonly alarms: readonly Alarm[];
    readonly omitted?: number;
    readonly now: number;
  },
): NoticeBody {
  const { id, name, severity, on, forSeconds } = rule;
  return {
    event,
    time: new Date(about.now).toISOString(),
    rule: { id, name, severity, on, forSeconds },
    alarms: about.alarms.slice(0, MAX_NAMED).map(toNoticeAlarm),
    total: about.alarms.length + (about.omitted ?? 0),
  };
}

/** One notice per target. */
export function toNotices(rule: AlarmRule, body: NoticeBody): NewNotice[] {
  if (body.total === 0) return [];
  return rule.targets.map(({ id }) => ({
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
