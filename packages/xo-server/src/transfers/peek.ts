import { once } from "node:events";
import type { Readable } from "node:stream";

/** Reads the first bytes of an unread stream, and puts them back; fewer if the stream is shorter. */
export async function peek(stream: Readable, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = stream.read(count) as Buffer | null;
    if (bytes !== null) {
      stream.unshift(bytes);
      return bytes;
    }
    if (stream.errored !== null) throw stream.errored;
    if (stream.readableEnded || stream.destroyed) return Buffer.alloc(0);
    await untilMore(stream);
  }
}

/**
 * Resolves at the first of these events, and removes the listeners.
 * @throws the stream's error
 */
async function untilMore(stream: Readable): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const all = ["readable", "end", "close"].map((event) =>
    once(stream, event, { signal }),
  );
  try {
    await Promise.race(all);
  } finally {
    waiting.abort();
    void Promise.allSettled(all);
  }
}
