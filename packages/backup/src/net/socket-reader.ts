import type { Duplex } from "node:stream";
import { copyBytes } from "../copy-bytes.js";

/** Bytes that wait for a reader before the socket is paused. */
const MAX_QUEUED = 256 * 1024;

/** Reads exact numbers of bytes from a socket; one read at a time. */
export class SocketReader {
  readonly #socket: Duplex;
  #queue: Buffer[] = [];
  #queued = 0;
  #isPaused = false;
  #failure: Error | undefined;
  #pending: Pending | undefined;
  /** Called for all bytes that arrive. */
  readonly #onBytes: () => void;
  readonly #onData = (bytes: Buffer): void => this.#receive(bytes);
  readonly #onError = (error: Error): void => this.fail(error);
  readonly #onClose = (): void =>
    this.fail(new Error("the connection was closed"));

  constructor(socket: Duplex, onBytes: () => void = () => undefined) {
    this.#socket = socket;
    this.#onBytes = onBytes;
    socket.on("data", this.#onData);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
    if (socket.destroyed) this.#onClose();
    socket.resume();
  }

  /** Bytes that were received and not read. */
  get queued(): number {
    return this.#queued;
  }

  async read(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    await this.readInto(bytes);
    return bytes;
  }

  /** Fills a buffer, which must not be used until then. @throws Error of the connection */
  readInto(target: Buffer): Promise<void> {
    const done = this.#takeQueued(target);
    if (done === target.length) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#pending = { target, done, resolve, reject };
    });
  }

  /** Ends the pending read and all later ones; the buffer is not written any more. */
  fail(error: Error): void {
    this.#failure ??= error;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(this.#failure);
  }

  /** Stops reading, so that another one can read from the socket. */
  detach(): void {
    this.#socket.pause();
    this.#socket.off("data", this.#onData);
    this.#socket.off("error", this.#onError);
    this.#socket.off("close", this.#onClose);
  }

  #receive(bytes: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#onBytes();
    const pending = this.#pending;
    let used = 0;
    if (pending !== undefined) {
      used = copyBytes(bytes, pending.target, pending.done);
      pending.done += used;
      if (pending.done === pending.target.length) {
        this.#pending = undefined;
        pending.resolve();
      }
    }
    if (used === bytes.length) return;
    this.#queue.push(used === 0 ? bytes : bytes.subarray(used));
    this.#queued += bytes.length - used;
    if (this.#queued > MAX_QUEUED && !this.#isPaused) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  /** @returns how many bytes of the target are filled */
  #takeQueued(target: Buffer): number {
    let done = 0;
    while (done < target.length && this.#queue.length > 0) {
      const first = this.#queue[0]!;
      const copied = copyBytes(first, target, done);
      done += copied;
      this.#queued -= copied;
      if (copied === first.length) this.#queue.shift();
      else this.#queue[0] = first.subarray(copied);
    }
    if (this.#isPaused && this.#queued <= MAX_QUEUED) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    return done;
  }
}

interface Pending {
  readonly target: Buffer;
  done: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}
