import type { WebSocket } from "ws";
import type { Clock } from "../../clock.js";
import type { JsonStream } from "../../encoding/raw-json.js";

export type Message = string | Buffer | JsonStream;

/** What is under a WebSocket: it can hold back what is written, to send it in one go. */
export interface CorkableConnection {
  cork(): void;
  uncork(): void;
}

export interface SendQueueOptions {
  readonly socket: WebSocket;
  /** Absent: each message is a write of its own. */
  readonly connection?: CorkableConnection | undefined;
  readonly clock: Clock;
  /** Waiting to go out at most; beyond, `onStuck` is called. */
  readonly maxBufferedBytes: number;
  /** The other end does not read. */
  readonly onStalled: () => void;
}

/** Of one stream, so much is made ahead of what the other end takes. */
const READ_AHEAD_BYTES = 1024 * 1024;

/** Notifications are skipped while more than this waits to go out: what is old is not worth a queue. */
const SKIP_ABOVE_BYTES = 256 * 1024;

/** A stream of which nothing is taken for so long has nobody at its other end. */
const STALL_TIMEOUT_MS = 60_000;

/** What a stream that waits for its turn counts for. */
const WAITING_STREAM_BYTES = 64 * 1024;

const EMPTY = Buffer.alloc(0);
const text = { binary: false } as const;
const fragment = { binary: false, compress: false, fin: false } as const;

/**
 * What goes out on one WebSocket. A stream is one text message in fragments,
 * each made when there is room; between them nothing else may go, so what comes
 * meanwhile waits, within a bound.
 */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #waiting: Message[] = [];
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

  send(message: Message): void {
    const { socket } = this.#options;
    if (!this.#isOpen()) return;
    if (this.#isStreaming) this.#enqueue(message);
    else if (isWhole(message)) {
      this.#cork();
      socket.send(message, text);
    } else void this.#stream(message);
    if (socket.bufferedAmount + this.#waitingBytes > this.#limit())
      this.#options.onStalled();
  }

  /** False: too much is waiting already, nothing was sent. */
  trySend(message: Buffer): boolean {
    const { socket } = this.#options;
    if (!this.#isOpen() || this.#isStreaming) return false;
    if (socket.bufferedAmount > SKIP_ABOVE_BYTES) return false;
    // Not gathered: what is told to thousands is told in slices, and the writes are most of the work.
    socket.send(message, text);
    return true;
  }

  /** What is sent in one turn of the event loop leaves in one write to the network: one call into the system, not one a message. */
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

  /** What a stream is ahead is not held against its reader. */
  #limit(): number {
    const { maxBufferedBytes } = this.#options;
    return this.#isStreaming
      ? maxBufferedBytes + 2 * READ_AHEAD_BYTES
      : maxBufferedBytes;
  }

  #enqueue(message: Message): void {
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
      // Half a message cannot be taken back; who waits for its end shall know.
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

  /** Resolves when there is room for the next part. */
  async #sendPart(part: Buffer, onSent: (part: Buffer) => void): Promise<void> {
    const { socket, clock, onStalled: onStuck } = this.#options;
    if (socket.bufferedAmount + part.length <= READ_AHEAD_BYTES) {
      socket.send(part, fragment, () => {
        onSent(part);
      });
      return;
    }
    const timer = clock.setTimeout(onStuck, STALL_TIMEOUT_MS);
    // Also called, with an error, when the socket closes.
    await new Promise<void>((resolve) => {
      socket.send(part, fragment, () => {
        onSent(part);
        resolve();
      });
    });
    clock.clearTimeout(timer);
  }
}

function isWhole(message: Message): message is string | Buffer {
  return typeof message === "string" || Buffer.isBuffer(message);
}

function sizeOf(message: Message): number {
  return isWhole(message) ? message.length : WAITING_STREAM_BYTES;
}
