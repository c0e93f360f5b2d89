import type { FastifyReply } from "fastify";

/** Aborted when the client has disconnected, or has got its response. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  return gone.signal;
}
