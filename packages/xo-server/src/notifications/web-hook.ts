import { createHmac } from "node:crypto";
import type { TargetSecret } from "./target.js";

/** The JSON body of a webhook, and its headers. */
interface HookRequest {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param now ms since the epoch */
export function toHookRequest(
  json: object,
  { headers = {}, secret }: TargetSecret,
  now: number,
): HookRequest {
  const text = JSON.stringify(json);
  if (secret === undefined) return { text, headers };
  const seconds = String(Math.floor(now / 1000));
  const signature = sign(secret, `${seconds}.${text}`);
  return {
    text,
    headers: {
      ...headers,
      "x-xo-timestamp": seconds,
      "x-xo-signature": signature,
    },
  };
}

/**
 * Signs the timestamp, a dot and the body, so that a captured message cannot be
 * replayed later.
 */
function sign(key: string, text: string): string {
  return `sha256=${createHmac("sha256", key).update(text).digest("hex")}`;
}
