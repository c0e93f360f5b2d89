import { once } from "node:events";
import type { Readable } from "node:stream";

/** The first bytes of a stream that nobody reads yet, which stay in it; fewer where there are no more. */
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

/** Waits for whichever comes first, and listens no longer. @throws the stream's error */
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
