import type { SocketMessage } from "../src/api/json-rpc/send-queue.js";

/** All that would go out. */
export async function textOf(message: SocketMessage): Promise<string> {
  if (typeof message === "string") return message;
  if (Buffer.isBuffer(message)) return message.toString();
  const parts: Buffer[] = [];
  for await (const part of message.parts) parts.push(part);
  return Buffer.concat(parts).toString();
}
