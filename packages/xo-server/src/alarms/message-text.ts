import { conditionText, valueText } from "./condition-text.js";
import type { NoticeAlarm, NoticeBody } from "./notice.js";

/** Plain-text mail of a notice. */
export interface MessageText {
  readonly subject: string;
  readonly text: string;
}

const PREFIXES = {
  raised: "",
  ended: "RESOLVED: ",
  reminder: "REMINDER: ",
  test: "TEST: ",
} as const;

export function toMessageText({
  event,
  rule,
  alarms,
  total,
  time,
}: NoticeBody): MessageText {
  const [first] = alarms;
  const about =
    first !== undefined && total === 1 ? first.name : `${total} objects`;
  const subject = `[${rule.severity}] ${PREFIXES[event]}${rule.name}: ${about}`;
  const condition = conditionText(rule);
  const head =
    condition === undefined ? [] : [`Condition: ${oneLine(condition)}`, ""];
  const lines = alarms.flatMap((alarm) => toLines(alarm, rule));
  const omitted = total - alarms.length;
  if (omitted > 0) lines.push(`and ${omitted} more`);
  return {
    subject: oneLine(subject),
    text: [subject, "", ...head, ...lines, "", time, ""].join("\n"),
  };
}

function toLines(
  { type, name, pool, url, value, text, since, until }: NoticeAlarm,
  { on }: NoticeBody["rule"],
): string[] {
  const parts = [
    `${type} ${oneLine(name)}`,
    ...(pool === undefined || type === "pool" ? [] : [`pool ${oneLine(pool)}`]),
    ...(value === undefined ? [] : [`value ${valueText(value, on)}`]),
    ...(text === undefined ? [] : [oneLine(text)]),
    until === undefined ? `since ${since}` : `from ${since} to ${until}`,
  ];
  const line = parts.join(", ");
  return url === undefined ? [line] : [line, `  ${url}`];
}

/** Names and messages come from pools and must not inject header lines. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are removed
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").slice(0, 400);
}
