import { randomUUID } from "node:crypto";
import type { NoticeBody, NoticeEvent } from "./notice.js";
import type { AlarmRule } from "./alarm-rule.js";

/** The members of a rule that its notices contain. */
export type ExampleRule = Pick<
  AlarmRule,
  "id" | "name" | "severity" | "on" | "forSeconds"
>;

/** A notice of a rule with one alarm that does not exist, for tests and previews. */
export function exampleNotice(
  { id, name, severity, on, forSeconds }: ExampleRule,
  event: NoticeEvent,
  now: number,
): NoticeBody {
  const time = new Date(now).toISOString();
  const isTest = event === "test";
  return {
    event,
    time,
    rule: { id, name, severity, on, forSeconds },
    alarms: [
      {
        id: randomUUID(),
        type: isTest ? "test" : "type" in on ? on.type : on.kind,
        name: isTest ? name : "example",
        ...(!isTest && on.kind === "statistic" ? { value: on.threshold } : {}),
        since: time,
        ...(event === "ended" ? { until: time } : {}),
      },
    ],
    total: 1,
  };
}
