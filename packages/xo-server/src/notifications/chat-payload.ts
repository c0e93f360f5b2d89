import type {
  NotificationMessage,
  MessageLine,
  MessageLevel,
} from "./message.js";
import type { ChatKind } from "./target.js";

/** Maximum length of a text that every chat service accepts, in characters. */
const MAX_CHARACTERS = 2_800;

const COLORS: Readonly<Record<MessageLevel, string>> = {
  info: "#2f6fde",
  warning: "#c77700",
  critical: "#c62828",
  resolved: "#2e7d32",
};
/** Colors of texts of Adaptive Cards. */
const CARD_COLORS: Readonly<Record<MessageLevel, string>> = {
  info: "Accent",
  warning: "Warning",
  critical: "Attention",
  resolved: "Good",
};
/** Priorities of ntfy: 1 to 5, the default is 3. */
const PRIORITIES: Readonly<Record<MessageLevel, number>> = {
  info: 3,
  warning: 4,
  critical: 5,
  resolved: 3,
};
const NTFY_TAGS: Readonly<Record<MessageLevel, string>> = {
  info: "information_source",
  warning: "warning",
  critical: "rotating_light",
  resolved: "white_check_mark",
};

/**
 * A message as JSON for the incoming webhook of a chat service.
 * @param topic the topic, for ntfy only
 */
export function toChatPayload(
  kind: ChatKind,
  message: NotificationMessage,
  topic = "",
): object {
  switch (kind) {
    case "slack":
      return toSlack(message);
    case "mattermost":
      return toMattermost(message);
    case "teams":
      return toTeams(message);
    case "ntfy":
      return toNtfy(message, topic);
  }
}

/** https://api.slack.com/messaging/webhooks, https://api.slack.com/reference/surfaces/formatting */
function toSlack(message: NotificationMessage): object {
  const { title, tone, lead, lines, time } = message;
  const escape = (text: string) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const toLine = ({ text, url }: MessageLine) =>
    url === undefined ? escape(text) : `<${url}|${escape(text)}>`;
  const body = joined([
    `*${escape(title)}*`,
    ...(lead === undefined ? [] : [escape(lead)]),
    ...lines.map(toLine),
  ]);
  return {
    text: escape(title),
    attachments: [
      {
        color: COLORS[tone],
        blocks: [
          { type: "section", text: { type: "mrkdwn", text: body } },
          {
            type: "context",
            elements: [{ type: "plain_text", text: `xo-server, ${time}` }],
          },
        ],
      },
    ],
  };
}

/** https://developers.mattermost.com/integrate/reference/message-attachments/ */
function toMattermost(message: NotificationMessage): object {
  const { title, tone, lead, lines, time } = message;
  const toLine = ({ text, url }: MessageLine) =>
    url === undefined
      ? plainMarkdown(text)
      : `[${plainMarkdown(text)}](${url})`;
  return {
    username: "xo-server",
    attachments: [
      {
        fallback: plainMarkdown(title),
        color: COLORS[tone],
        title: plainMarkdown(title),
        text: joined([
          ...(lead === undefined ? [] : [plainMarkdown(lead), ""]),
          ...lines.map((line) => `- ${toLine(line)}`),
        ]),
        footer: time,
      },
    ],
  };
}

/** Escapes a text so that it contains neither Markdown nor mentions of users and channels. */
function plainMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()#+\-!|<>~:]/g, "\\$&")
    .replace(/@/g, "@\u200b");
}

/**
 * An Adaptive Card, which webhooks of Teams (Workflows) accept. Runs of rich
 * texts are plain: neither Markdown nor mentions.
 * https://learn.microsoft.com/power-automate/overview-adaptive-cards
 */
function toTeams(message: NotificationMessage): object {
  const { title, tone, lead, lines, time } = message;
  const toBlock = ({ text, url }: MessageLine) => ({
    type: "RichTextBlock",
    inlines: [
      {
        type: "TextRun",
        text: shortened(text, 400),
        ...(url === undefined
          ? {}
          : { selectAction: { type: "Action.OpenUrl", url } }),
      },
    ],
  });
  const heading = {
    type: "TextRun",
    text: title,
    weight: "Bolder",
    size: "Medium",
    color: CARD_COLORS[tone],
  };
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    msteams: { width: "Full" },
    body: [
      { type: "RichTextBlock", inlines: [heading] },
      ...(lead === undefined ? [] : [toBlock({ text: lead })]),
      ...lines.map(toBlock),
      toBlock({ text: time }),
    ],
  };
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: card,
      },
    ],
  };
}

/** https://docs.ntfy.sh/publish/#publish-as-json; texts are plain unless `markdown` is set. */
function toNtfy(
  { title, tone, lead, lines }: NotificationMessage,
  topic: string,
): object {
  const click = lines.find(({ url }) => url !== undefined)?.url;
  return {
    topic,
    title,
    message: joined([
      ...(lead === undefined ? [] : [lead]),
      ...lines.map(({ text }) => text),
    ]),
    priority: PRIORITIES[tone],
    tags: [NTFY_TAGS[tone]],
    ...(click === undefined ? {} : { click }),
  };
}

/** Joins as many lines as fit, and adds the number of the others. */
function joined(lines: readonly string[]): string {
  let length = 0;
  const fitting = lines.filter((line) => {
    length += line.length + 1;
    return length <= MAX_CHARACTERS;
  });
  const omitted = lines.length - fitting.length;
  if (omitted > 0) fitting.push(`and ${omitted} more lines`);
  return fitting.join("\n");
}

function shortened(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}
