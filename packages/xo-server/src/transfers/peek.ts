import type { Readable } from "node:stream";

/**
 * Reads the first bytes of an unread stream, and puts them back; fewer if the
 * stream is shorter.
 * @throws the stream's error
 */
export function peek(stream: Readable, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      for (const event of EVENTS) stream.off(event, read);
      act();
    };
    const read = () => {
      const bytes = stream.read(count) as Buffer | null;
      if (bytes !== null)
        settle(() => {
          stream.unshift(bytes);
          resolve(bytes);
        });
      else if (stream.errored !== null)
        settle(() => {
          reject(stream.errored!);
        });
      else if (stream.readableEnded || stream.destroyed)
        settle(() => {
          resolve(Buffer.alloc(0));
        });
    };
    // Attached once: while bytes are buffered, Node.js emits `readable` for each new listener,
    // even if no bytes have arrived. A loop of `once` would never leave the microtask queue.
    for (const event of EVENTS) stream.on(event, read);
    read();
  });
}

const EVENTS = ["readable", "end", "error", "close"] as const;
