import type { NoticeAlarm, NoticeBody } from "./notice.js";

/** A message as people read it. */
export interface MessageText {
  readonly subject: string;
  readonly text: string;
}

const WORDS = {
  raised: "",
  ended: "ended: ",
  reminder: "still: ",
  test: "test: ",
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
  const subject = `[${rule.severity}] ${WORDS[event]}${rule.name}: ${about}`;
  const lines = alarms.map(toLine);
  const others = total - alarms.length;
  if (others > 0) lines.push(`and ${others} more`);
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

/** Names and messages come from pools: no line of a header may begin in one. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- what must not be in a line
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").slice(0, 400);
}
