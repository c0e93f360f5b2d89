import type { FastifyReply } from "fastify";

/** A signal that is aborted when the client has disconnected or the response was sent. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once("close", () => disconnected.abort());
  return disconnected.signal;
}
