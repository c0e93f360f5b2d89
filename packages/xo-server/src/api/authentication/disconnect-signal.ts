import type { FastifyReply } from "fastify";

/** A signal that is aborted when the client has disconnected or the response was sent. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  return gone.signal;
}
