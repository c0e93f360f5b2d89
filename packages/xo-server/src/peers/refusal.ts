import type { IncomingMessage } from "node:http";

/** Another server answers, but not with what was requested. */
export class PeerRefusal extends Error {}

/** Bytes that are read of the body. */
const MAX_REFUSAL_BYTES = 4_096;

/** @returns the message of an error response of another server, or its status */
export async function readRefusal(response: IncomingMessage): Promise<string> {
  const { statusCode } = response;
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk as string;
    if (text.length > MAX_REFUSAL_BYTES) break;
  }
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message : `HTTP ${statusCode}`;
  } catch {
    // Of a proxy.
    return `HTTP ${statusCode}`;
  }
}
