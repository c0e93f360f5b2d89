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
  const lines = alarms.map(toLine);
  const omitted = total - alarms.length;
  if (omitted > 0) lines.push(`and ${omitted} more`);
  return {
    subject: oneLine(subject),
    text: [subject, "", ...lines, "", time, ""].join("\n"),
  };
}

function toLine({
  type,
  name,
  value,
  text,
  since,
  until,
}: NoticeAlarm): string {
  const parts = [
    `${type} ${name}`,
    ...(value === undefined ? [] : [`value ${Number(value.toPrecision(4))}`]),
    ...(text === undefined ? [] : [oneLine(text)]),
    until === undefined ? `since ${since}` : `from ${since} to ${until}`,
  ];
  return parts.join(", ");
}

/** Names and messages come from pools and must not inject header lines. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are removed
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").slice(0, 400);
}
