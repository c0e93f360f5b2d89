import type { WallClock } from "@xo-server/kit";
import type { WebSocket } from "ws";
import type { JsonStream } from "../../encoding/raw-json.js";

export type SocketMessage = string | Buffer | JsonStream;

/** The socket below a WebSocket. Corked writes are sent together. */
export interface CorkableConnection {
  cork(): void;
  uncork(): void;
}

interface SendQueueOptions {
  readonly socket: WebSocket;
  /** Absent: each message is a separate write. */
  readonly connection?: CorkableConnection | undefined;
  readonly clock: WallClock;
  /** Maximum number of unsent bytes; above, `onStalled` is called. */
  readonly maxBufferedBytes: number;
  /** Called when the client does not read. */
  readonly onStalled: () => void;
  /** Called when something is sent while much is unsent. Default: nothing. */
  readonly onBehind?: () => void;
}

/** Maximum number of bytes of a stream that are produced ahead of the client. */
const READ_AHEAD_BYTES = 1024 * 1024;

/** Notifications are skipped while more bytes than this are unsent: they would be outdated when sent. */
const SKIP_ABOVE_BYTES = 256 * 1024;

/** A stream without progress for this long counts as stalled. */
const STALL_TIMEOUT_MS = 60_000;

/** How much a waiting stream counts in the limit of unsent bytes. */
const WAITING_STREAM_BYTES = 64 * 1024;

const EMPTY = Buffer.alloc(0);
const text = { binary: false } as const;
const fragment = { binary: false, compress: false, fin: false } as const;

/**
 * Messages to one WebSocket, in order. A stream is one text message in fragments,
 * produced as the client reads. No other message may be sent between fragments
 * (RFC 6455, 5.4), so messages wait until the stream has ended.
 */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #waiting: SocketMessage[] = [];
  #waitingBytes = 0;
  #isStreaming = false;
  #isCorked = false;
  readonly #uncork: () => void;

  constructor(options: SendQueueOptions) {
    this.#options = options;
    this.#uncork = () => {
      this.#isCorked = false;
      options.connection?.uncork();
    };
  }

  /** Number of bytes that the client has not read. */
  get unsentBytes(): number {
    return this.#options.socket.bufferedAmount + this.#waitingBytes;
  }

  send(message: SocketMessage): void {
    const { socket } = this.#options;
    if (!this.#isOpen()) return;
    if (this.#isStreaming) this.#enqueue(message);
    else if (isWhole(message)) {
      this.#cork();
      socket.send(message, text);
    } else void this.#stream(message);
    if (this.unsentBytes > this.#limit()) this.#options.onStalled();
    else this.#reportIfBehind();
  }

  #reportIfBehind(): void {
    if (this.unsentBytes > SKIP_ABOVE_BYTES) this.#options.onBehind?.();
  }

  /** @returns false: skipped, because too many bytes are unsent */
  trySend(message: Buffer): boolean {
    const { socket } = this.#options;
    if (!this.#isOpen() || this.#isStreaming) return false;
    if (socket.bufferedAmount > SKIP_ABOVE_BYTES) return false;
    // Not corked: notifications to thousands of clients are sent in slices, and the writes are most of the work.
    socket.send(message, text);
    return true;
  }

  /** Messages of one turn of the event loop are one write to the network: one system call instead of one per message. */
  #cork(): void {
    const { connection: wire } = this.#options;
    if (wire === undefined || this.#isCorked) return;
    this.#isCorked = true;
    wire.cork();
    process.nextTick(this.#uncork);
  }

  #isOpen(): boolean {
    const { socket } = this.#options;
    return socket.readyState === socket.OPEN;
  }

  /** Bytes of a stream that are produced ahead of the client do not count as unsent. */
  #limit(): number {
    const { maxBufferedBytes } = this.#options;
    return this.#isStreaming
      ? maxBufferedBytes + 2 * READ_AHEAD_BYTES
      : maxBufferedBytes;
  }

  #enqueue(message: SocketMessage): void {
    this.#waiting.push(message);
    this.#waitingBytes += sizeOf(message);
  }

  async #stream(message: JsonStream): Promise<void> {
    const { socket } = this.#options;
    this.#isStreaming = true;
    try {
      for await (const part of message.parts) {
        await this.#sendPart(part, message.onSent);
        if (!this.#isOpen()) break;
      }
      if (this.#isOpen()) socket.send(EMPTY, { ...fragment, fin: true });
    } catch {
      // A partial message cannot be withdrawn. The closed connection shows the
      // client that it is incomplete.
      socket.terminate();
    }
    this.#isStreaming = false;
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    if (!this.#isOpen()) this.#waiting.length = 0;
    while (this.#waiting.length > 0 && !this.#isStreaming) {
      const next = this.#waiting.shift()!;
      this.#waitingBytes -= sizeOf(next);
      this.send(next);
    }
  }

  /** Resolves when the next part may be produced. */
  async #sendPart(part: Buffer, onSent: (part: Buffer) => void): Promise<void> {
    const { socket, clock, onStalled } = this.#options;
    this.#reportIfBehind();
    if (socket.bufferedAmount + part.length <= READ_AHEAD_BYTES) {
      socket.send(part, fragment, () => {
        onSent(part);
      });
      return;
    }
    const timer = clock.setTimeout(onStalled, STALL_TIMEOUT_MS);
    // The callback is also called, with an error, when the socket closes.
    await new Promise<void>((resolve) => {
      socket.send(part, fragment, () => {
        onSent(part);
        resolve();
      });
    });
    clock.clearTimeout(timer);
  }
}

function isWhole(message: SocketMessage): message is string | Buffer {
  return typeof message === "string" || Buffer.isBuffer(message);
}

function sizeOf(message: SocketMessage): number {
  return isWhole(message) ? message.length : WAITING_STREAM_BYTES;
}
