/** What a message reports; chat services show it as color or priority. */
export type MessageLevel = "info" | "warning" | "critical" | "resolved";

export interface MessageLine {
  readonly text: string;
  /** Page of the object. */
  readonly url?: string;
}

/**
 * A message as human-readable text. Its texts are plain and on one line; any user
 * may have written them.
 */
export interface NotificationMessage {
  readonly title: string;
  readonly tone: MessageLevel;
  /** Text above the lines. */
  readonly lead?: string;
  readonly lines: readonly MessageLine[];
  /** ISO 8601 */
  readonly time: string;
  /** The JSON that webhooks receive in addition to the id. */
  readonly json: object;
}

/** Plain-text mail. */
export function toMailText({
  title,
  lead,
  lines,
  time,
}: NotificationMessage): string {
  const head = lead === undefined ? [] : [lead, ""];
  const body = lines.flatMap(({ text, url }) =>
    url === undefined ? [text] : [text, `  ${url}`],
  );
  return [title, "", ...head, ...body, "", time, ""].join("\n");
}
