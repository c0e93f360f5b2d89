import type { WallClock } from "@xo-server/kit";
import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Maximum number of bytes of a rejected body that are read. */
const MAX_BYTES = 64 * 2 ** 20;

/** Time for which a rejected body is read, in ms. */
const MAX_MS = 30_000;

/**
 * Sends the response to a request whose body was not read completely, and keeps
 * the connection open while the rest arrives and is discarded, up to a limit.
 * Closing a connection with unread bytes resets it: clients that are still
 * sending would see a broken connection in place of the response.
 */
export function addUnreadBodies(
  app: FastifyInstance,
  clock: Pick<WallClock, "setTimeout" | "clearTimeout">,
): void {
  app.addHook("onSend", async ({ raw }, reply, payload) => {
    const isSent = typeof payload === "string" || Buffer.isBuffer(payload);
    if (!isSent || reply.statusCode < 400 || !hasUnreadBody(raw))
      return payload;
    // On a keep-alive connection Node.js would read the body to its end.
    reply.header("connection", "close");
    // The client can find the end of the response while the connection is open.
    reply.header("content-length", Buffer.byteLength(payload));
    const response = new Readable({ read: () => undefined });
    response.push(payload);
    void discard(raw, clock).then(() => response.push(null));
    return response;
  });
}

function hasUnreadBody({
  headers,
  complete,
  destroyed,
}: IncomingMessage): boolean {
  const hasBody =
    headers["transfer-encoding"] !== undefined ||
    Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !complete && !destroyed;
}

/** Resolves when the body has ended or the limit is reached. */
function discard(
  body: IncomingMessage,
  clock: Pick<WallClock, "setTimeout" | "clearTimeout">,
): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = clock.setTimeout(resolve, MAX_MS);
    const end = () => {
      clock.clearTimeout(timer);
      resolve();
    };
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) end();
    });
    for (const event of ["end", "error", "close"]) body.once(event, end);
    body.resume();
  });
}
