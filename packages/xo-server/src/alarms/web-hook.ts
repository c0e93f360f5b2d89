import { createHmac } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { NoticeBody } from "./notice.js";
import type { TargetSecret } from "./rule.js";

/** What is posted, where. */
export interface HookCall {
  /** Of the message: the same at every try. */
  readonly id: string;
  readonly url: string;
  readonly secret: TargetSecret;
  readonly body: NoticeBody;
}

export type CallHook = (call: HookCall) => Promise<void>;

/** A server that does not answer by then is tried again later. */
const TIMEOUT_MS = 10_000;

/**
 * Posts messages as JSON. Redirects are not followed: headers with secrets go
 * where an admin said, and nowhere else.
 */
export function createHookCaller(clock: Pick<Clock, "now">): CallHook {
  return async ({ id, url, secret, body }) => {
    const text = JSON.stringify({ id, ...body });
    const seconds = String(Math.floor(clock.now() / 1000));
    let answer: Response;
    try {
      answer = await fetch(url, {
        method: "POST",
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          ...secret.headers,
          "content-type": "application/json",
          "user-agent": "xo-server",
          ...(secret.secret === undefined
            ? {}
            : {
                "x-xo-timestamp": seconds,
                "x-xo-signature": sign(secret.secret, `${seconds}.${text}`),
              }),
        },
        body: text,
      });
    } catch (error) {
      throw new XoError("UNREACHABLE", {
        address: new URL(url).host,
        reason: reasonOf(error),
      });
    }
    // What it says is of no use: it is not read.
    await answer.body?.cancel();
    if (!answer.ok)
      throw new XoError("UNREACHABLE", {
        address: new URL(url).host,
        reason: `it answered ${answer.status}`,
      });
  };
}

/** Of the time, a dot and the text: a message that was caught cannot be sent again later. */
function sign(key: string, text: string): string {
  return `sha256=${createHmac("sha256", key).update(text).digest("hex")}`;
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${TIMEOUT_MS} ms`;
  return cause instanceof Error ? cause.message : message;
}
