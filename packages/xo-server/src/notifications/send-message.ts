import type { WallClock } from "@xo-server/kit";
import { toChatPayload } from "./chat-payload.js";
import type { SendMail } from "./mail-sender.js";
import { toMailText, type NotificationMessage } from "./message.js";
import { post } from "./post.js";
import { topicOf } from "./split-targets.js";
import type { ChatKind, Target, TargetSecret } from "./target.js";
import { toHookRequest } from "./web-hook.js";

/** A message to one target. */
export interface OutgoingMessage {
  /** Equal for all attempts, so that receivers can detect duplicates. */
  readonly id: string;
  readonly target: Target;
  readonly secret: TargetSecret;
  readonly message: NotificationMessage;
}

/**
 * Sends once, without retries.
 * @throws XoError UNREACHABLE, UNSUPPORTED; errors of the mail server
 */
export type SendMessage = (outgoing: OutgoingMessage) => Promise<void>;

/** Sends to a target by mail or HTTP. @throws XoError, Error the target did not accept the message */
export function createMessageSender(
  sendMail: SendMail,
  clock: Pick<WallClock, "now">,
): SendMessage {
  return async ({ id, target, secret, message }) => {
    if (target.kind === "e-mail")
      return sendMail({
        id,
        addresses: target.addresses,
        subject: message.title,
        text: toMailText(message),
      });
    if (target.kind === "web-hook") {
      const json = { id, ...message.json };
      const { text, headers } = toHookRequest(json, secret, clock.now());
      return post(target.url, text, headers);
    }
    return postToChat(target.kind, secret, message);
  };
}

async function postToChat(
  kind: ChatKind,
  { url = "", token }: TargetSecret,
  message: NotificationMessage,
): Promise<void> {
  if (kind !== "ntfy")
    return post(url, JSON.stringify(toChatPayload(kind, message)));
  const topic = topicOf(url);
  const server = new URL(url);
  // ntfy accepts JSON at its root path, with the topic in the JSON.
  server.pathname = server.pathname.slice(0, -topic.length);
  return post(
    server.toString(),
    JSON.stringify(toChatPayload(kind, message, topic)),
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  );
}
