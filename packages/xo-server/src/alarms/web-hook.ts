import type { WallClock } from "@xo-server/kit";
import { createHmac } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { NoticeBody } from "./notice.js";
import type { TargetSecret } from "./rule.js";

/** One request. */
export interface HookCall {
  /** Id of the notice: equal for all attempts. */
  readonly id: string;
  readonly url: string;
  readonly secret: TargetSecret;
  readonly body: NoticeBody;
}

export type CallHook = (call: HookCall) => Promise<void>;

/** Timeout of an attempt. */
const TIMEOUT_MS = 10_000;

/**
 * Sends notices as JSON by POST. Redirects are not followed, so that secret
 * headers only go to the configured URL.
 */
export function createHookCaller(clock: Pick<WallClock, "now">): CallHook {
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
    // The body of the response is not used.
    await answer.body?.cancel();
    if (!answer.ok)
      throw new XoError("UNREACHABLE", {
        address: new URL(url).host,
        reason: `HTTP status ${answer.status}`,
      });
  };
}

/**
 * Signs the timestamp, a dot and the body, so that a captured message cannot be
 * replayed later.
 */
function sign(key: string, text: string): string {
  return `sha256=${createHmac("sha256", key).update(text).digest("hex")}`;
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${TIMEOUT_MS} ms`;
  return cause instanceof Error ? cause.message : message;
}
