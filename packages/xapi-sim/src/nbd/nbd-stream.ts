import { once } from "node:events";
import type { Socket } from "node:net";

/** Thrown when the connection ends where more should come. */
export class ConnectionEnded extends Error {}

/** One connection as bytes to read and to write, with back-pressure both ways. */
export class NbdStream {
  readonly socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.socket = socket;
    const chunks = socket.iterator({ destroyOnReturn: false });
    this.#chunks = chunks as AsyncIterator<Buffer>;
  }

  /** Exactly `count` bytes. @throws ConnectionEnded */
  async read(count: number): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new ConnectionEnded("the client has gone");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(count);
    return all.subarray(0, count);
  }

  /** Reads `count` bytes and drops them. @throws ConnectionEnded */
  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const piece = Math.min(left, 65536);
      await this.read(piece);
      left -= piece;
    }
  }

  /** Resolves when there is room for more. @throws ConnectionEnded */
  async write(bytes: Buffer): Promise<void> {
    if (this.socket.destroyed) throw new ConnectionEnded("the client has gone");
    if (this.socket.write(bytes)) return;
    const stop = new AbortController();
    const closed = once(this.socket, "close", { signal: stop.signal });
    const drained = once(this.socket, "drain", { signal: stop.signal });
    await Promise.race([closed, drained]).finally(() => {
      // The other one is not needed any more.
      closed.catch(() => undefined);
      drained.catch(() => undefined);
      stop.abort();
    });
  }

  /** Gives the socket back, to begin TLS on it. @throws ConnectionEnded if bytes are there already */
  async release(): Promise<Socket> {
    await this.#chunks.return?.();
    if (this.#rest.length > 0)
      throw new ConnectionEnded("bytes came before TLS");
    return this.socket;
  }
}
