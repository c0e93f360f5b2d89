import { conditionText, valueText } from "./condition-text.js";
import type {
  NotificationMessage,
  MessageLine,
} from "../notifications/message.js";
import type { NoticeAlarm, NoticeBody } from "./notice.js";

const PREFIXES = {
  raised: "",
  ended: "RESOLVED: ",
  reminder: "REMINDER: ",
  test: "TEST: ",
} as const;

/** A notice as human-readable text. */
export function toMessage(body: NoticeBody): NotificationMessage {
  const { event, rule, alarms, total, time } = body;
  const [first] = alarms;
  const about =
    first !== undefined && total === 1 ? first.name : `${total} objects`;
  const condition = conditionText(rule);
  const lines = alarms.map((alarm) => toLine(alarm, rule));
  const omitted = total - alarms.length;
  if (omitted > 0) lines.push({ text: `and ${omitted} more` });
  return {
    title: oneLine(
      `[${rule.severity}] ${PREFIXES[event]}${rule.name}: ${about}`,
    ),
    tone: event === "ended" ? "resolved" : rule.severity,
    ...(condition === undefined
      ? {}
      : { lead: `Condition: ${oneLine(condition)}` }),
    lines,
    time,
    json: body,
  };
}

function toLine(
  { type, name, pool, url, value, text, since, until }: NoticeAlarm,
  { on }: NoticeBody["rule"],
): MessageLine {
  const parts = [
    `${type} ${oneLine(name)}`,
    ...(pool === undefined || type === "pool" ? [] : [`pool ${oneLine(pool)}`]),
    ...(value === undefined ? [] : [`value ${valueText(value, on)}`]),
    ...(text === undefined ? [] : [oneLine(text)]),
    until === undefined ? `since ${since}` : `from ${since} to ${until}`,
  ];
  const line = parts.join(", ");
  return url === undefined ? { text: line } : { text: line, url };
}

/** Names and messages come from pools and must not inject header lines. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are removed
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").slice(0, 400);
}
