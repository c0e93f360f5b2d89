import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { FrameCounter } from "./frame-counter.js";

/**
 * The other end of a WebSocket that costs next to nothing: what it gets is
 * counted, not read, so that the server is what is measured.
 */
export class RawSocket {
  readonly counter = new FrameCounter();
  readonly #socket: Socket;
  #isClosed = false;
  #onChunk: (isEnd: boolean) => void = () => undefined;

  /** @param url of the server, `http://host:port` */
  static async open(url: string, path: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    socket.setNoDelay(true);
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
    );
    const raw = new RawSocket(socket);
    await raw.#upgraded();
    return raw;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("close", () => {
      // A pending request would never end.
      if (!this.#isClosed) throw new Error("the server closed the connection");
    });
  }

  /** Writes whole frames. @returns false when the caller should wait for `drained` */
  write(frames: Buffer): boolean {
    return this.#socket.write(frames);
  }

  async drained(): Promise<void> {
    await once(this.#socket, "drain");
  }

  /** Sends a text and takes what comes until a message has ended. Times in ms. */
  async exchange(text: string): Promise<{ firstMs: number; totalMs: number }> {
    const start = performance.now();
    let firstMs = 0;
    const ended = new Promise<void>((resolve) => {
      this.#onChunk = (isEnd) => {
        firstMs ||= performance.now() - start;
        if (isEnd) resolve();
      };
    });
    this.write(maskedFrame(text));
    await ended;
    return { firstMs, totalMs: performance.now() - start };
  }

  /** Resolves when this number of messages has been received since the socket was opened. */
  async until(messages: number): Promise<void> {
    if (this.counter.messages >= messages) return;
    await new Promise<void>((resolve) => {
      this.#onChunk = () => {
        if (this.counter.messages >= messages) resolve();
      };
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  async #upgraded(): Promise<void> {
    let head = Buffer.alloc(0);
    for (;;) {
      const [chunk] = (await once(this.#socket, "data")) as [Buffer];
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) continue;
      if (!head.toString("latin1", 0, 12).endsWith("101"))
        throw new Error(`no WebSocket: ${head.toString("latin1", 0, end)}`);
      this.#socket.on("data", (data: Buffer) => {
        this.#onChunk(this.counter.add(data));
      });
      this.counter.add(head.subarray(end + 4));
      return;
    }
  }
}

/** A text frame as a client has to send it; a mask of zeros leaves the bytes as they are. */
export function maskedFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  const masked = 0x80;
  const head =
    length < 126
      ? Buffer.from([0x81, masked | length])
      : Buffer.from([0x81, masked | 126, length >> 8, length & 0xff]);
  if (length > 0xffff) throw new RangeError("at most 65,535 bytes");
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}
