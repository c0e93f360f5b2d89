import { once } from "node:events";
import type { Duplex, Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { bodyEnd, type ResponseHead } from "./response-head.js";

/**
 * Sends the body of a request with backpressure and waits for the complete
 * answer. Without a length, closing our half of the connection ends the body:
 * XAPI does not accept chunked requests.
 * @returns undefined: the host closed the connection before the end of the body
 * @throws XoError INVALID_PARAMETERS if the size differs from `contentLength`; errors of the body and of the answer. A
 * connection that breaks after the body was sent is not an error.
 */
export async function upload(
  body: Readable,
  socket: Duplex,
  contentLength: number | undefined,
  response: Promise<ResponseHead>,
): Promise<ResponseHead | undefined> {
  const isComplete = await write(body, socket, contentLength);
  if (isComplete && contentLength === undefined) socket.end();
  const head = await response;
  if (!isComplete && head.status < 300) return undefined;
  const end = bodyEnd(head);
  const hasNoBody = end.by === "length" && end.length === 0;
  // XAPI sends 200 before it reads the body and closes the connection after processing it.
  if (!hasNoBody && !socket.readableEnded && !socket.destroyed) {
    socket.resume();
    // XAPI does not read the padding after the last file of an archive, so its close resets a plain TCP connection: the task has the outcome.
    await firstEvent(socket, "end", "close");
  }
  socket.destroy();
  return head;
}

/** @returns false: the connection was closed before the end of the body */
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
    // By default, leaving the loop would destroy the body with an AbortError.
    const chunks = body.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Uint8Array | string>;
    for await (const chunk of chunks) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      sent += bytes.length;
      if (contentLength !== undefined && sent > contentLength)
        throw wrongLength(contentLength, sent);
      if (socket.destroyed) return false;
      if (!socket.write(bytes)) await firstEvent(socket, "drain", "close");
    }
  } catch (error) {
    // A body destroyed by `stop` fails with "premature close".
    if (!socket.destroyed || body.errored !== null) throw error;
    return false;
  } finally {
    socket.off("close", stop);
  }
  if (contentLength !== undefined && sent < contentLength && !socket.destroyed)
    throw wrongLength(contentLength, sent);
  return !socket.destroyed;
}

/** Waits for the first of the events, or for an error, after which the socket is destroyed; removes the listeners. */
async function firstEvent(socket: Duplex, ...events: string[]): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const all = events.map((event) => once(socket, event, { signal }));
  try {
    await Promise.race(all);
  } catch {
    // The callers check whether the socket is destroyed.
  } finally {
    waiting.abort();
    void Promise.allSettled(all);
  }
}

function wrongLength(announced: number, sent: number): XoError {
  const reason = `the body has ${sent} bytes, Content-Length is ${announced}`;
  return new XoError("INVALID_PARAMETERS", { reason });
}
