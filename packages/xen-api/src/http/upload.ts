import { once } from "node:events";
import type { Duplex, Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { bodyEnd, type ResponseHead } from "./response-head.js";

/**
 * Writes a request's body as fast as the other side takes it, and waits until
 * that side has said all. Without a length the body ends with our half of the
 * connection: XAPI takes no chunks.
 * @returns undefined: it hung up before it had the body
 * @throws XoError INVALID_PARAMETERS when the body is not as long as announced; the body's error; the answer's
 */
export async function upload(
  body: Readable,
  socket: Duplex,
  contentLength: number | undefined,
  response: Promise<ResponseHead>,
): Promise<ResponseHead | undefined> {
  const isWhole = await write(body, socket, contentLength);
  if (isWhole && contentLength === undefined) socket.end();
  const head = await response;
  if (!isWhole && head.status < 300) return undefined;
  const end = bodyEnd(head);
  const hasNoBody = end.by === "length" && end.length === 0;
  // XAPI says 200 before it has read the body, and hangs up when it is done with it.
  if (!hasNoBody && !socket.readableEnded && !socket.destroyed) {
    socket.resume();
    await firstEvent(socket, "end", "close");
  }
  socket.destroy();
  return head;
}

/** @returns false: the other side would not have it */
async function write(
  body: Readable,
  socket: Duplex,
  contentLength: number | undefined,
): Promise<boolean> {
  let sent = 0;
  const stop = () => {
    body.destroy();
  };
  socket.once("close", stop);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array | string>) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      sent += bytes.length;
      if (contentLength !== undefined && sent > contentLength)
        throw wrongLength(contentLength, sent);
      if (socket.destroyed) return false;
      if (!socket.write(bytes)) await firstEvent(socket, "drain", "close");
    }
  } catch (error) {
    // A body that we stopped ourselves says "premature close".
    if (!socket.destroyed || body.errored !== null) throw error;
    return false;
  } finally {
    socket.off("close", stop);
  }
  if (contentLength !== undefined && sent < contentLength && !socket.destroyed)
    throw wrongLength(contentLength, sent);
  return !socket.destroyed;
}

/** Waits for whichever comes first, and listens no longer. */
async function firstEvent(socket: Duplex, ...events: string[]): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const all = events.map((event) => once(socket, event, { signal }));
  try {
    await Promise.race(all);
  } finally {
    waiting.abort();
    void Promise.allSettled(all);
  }
}

function wrongLength(announced: number, sent: number): XoError {
  const reason = `the body has ${sent} bytes, announced were ${announced}`;
  return new XoError("INVALID_PARAMETERS", { reason });
}
