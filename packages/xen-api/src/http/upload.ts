import { once } from "node:events";
import type { Duplex, Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { bodyEnd, type ResponseHead } from "./response-head.js";

/**
 * Writes a request's body as fast as the other side takes it, and waits until
 * that side has said all. Without a length the body ends with our half of the
 * connection: XAPI takes no chunks.
 * @throws XoError INVALID_PARAMETERS when the body is not as long as announced; the body's error; the answer's
 */
export async function upload(
  body: Readable,
  socket: Duplex,
  contentLength: number | undefined,
  answered: Promise<ResponseHead>,
): Promise<void> {
  let sent = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array | string>) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    sent += bytes.length;
    if (contentLength !== undefined && sent > contentLength)
      throw wrongLength(contentLength, sent);
    if (socket.destroyed) break;
    if (!socket.write(bytes)) await drained(socket);
  }
  if (contentLength === undefined) socket.end();
  else if (sent < contentLength && !socket.destroyed)
    throw wrongLength(contentLength, sent);
  const head = await answered;
  const end = bodyEnd(head);
  if (end.by === "length" && end.length === 0) {
    socket.destroy();
    return;
  }
  // XAPI says 200 before it has read the body, and hangs up when it is done with it.
  if (!socket.readableEnded && !socket.destroyed) {
    socket.resume();
    await Promise.race([once(socket, "end"), once(socket, "close")]);
  }
  socket.destroy();
}

function drained(socket: Duplex): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  return Promise.race([
    once(socket, "drain", { signal }),
    once(socket, "close", { signal }),
  ]).finally(() => {
    waiting.abort();
  });
}

function wrongLength(announced: number, sent: number): XoError {
  const reason = `the body has ${sent} bytes, announced were ${announced}`;
  return new XoError("INVALID_PARAMETERS", { reason });
}
