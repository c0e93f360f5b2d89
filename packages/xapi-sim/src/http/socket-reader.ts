import type { Socket } from "node:net";
import type { SimulatorClock } from "../clock.js";

/** Stop reading from the socket when this much waits to be taken. */
const HIGH_WATER_BYTES = 1 << 20;

/** Reads bytes from a socket in pieces; the rest stays buffered. */
export class SocketReader {
  readonly #socket: Socket;
  readonly #clock: SimulatorClock;
  #pending: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, clock: SimulatorClock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onEnd);
  }

  /** Bytes that are still discarded; undefined: they are kept for a reader. */
  #discarded: number | undefined;

  readonly #onData = (data: Buffer): void => {
    if (this.#discarded !== undefined) {
      this.#discarded -= data.length;
      if (this.#discarded < 0) this.#socket.destroy();
      return;
    }
    this.#pending =
      this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    if (this.#pending.length > HIGH_WATER_BYTES) this.#socket.pause();
    this.#wake?.();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake?.();
  };

  /**
   * The next header block with its blank line.
   * `too-large`: more than `limit` bytes; `timeout`: `idleMs` without a byte, or
   * `totalMs` in all; undefined: the connection ended.
   */
  async head(
    limit: number,
    times?: { readonly idleMs: number; readonly totalMs: number },
  ): Promise<Buffer | "too-large" | "timeout" | undefined> {
    const start = this.#clock.now();
    for (;;) {
      const end = this.#pending.subarray(0, limit + 4).indexOf("\r\n\r\n");
      if (end >= 0 && end + 4 <= limit) return this.#take(end + 4);
      if (this.#pending.length > limit) return "too-large";
      if (this.#ended) return undefined;
      const left =
        times &&
        Math.min(times.idleMs, start + times.totalMs - this.#clock.now());
      if ((await this.#more(left)) === "timeout") return "timeout";
    }
  }

  /** Waits without reading: for a request that never becomes one. */
  async silence(idleMs: number): Promise<void> {
    while (!this.#ended && (await this.#more(idleMs)) !== "timeout") continue;
  }

  /** Exactly `length` bytes; undefined when the connection ends before. */
  async bytes(length: number): Promise<Buffer | undefined> {
    if (this.#pending.length >= length) return this.#take(length);
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part === undefined) return undefined;
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Reads available bytes, at most `limit`; undefined at the end. */
  async some(limit: number): Promise<Buffer | undefined> {
    while (this.#pending.length === 0) {
      if (this.#ended) return undefined;
      await this.#more();
    }
    return this.#take(Math.min(limit, this.#pending.length));
  }

  /**
   * Discards further input, so that a client that is writing reaches its read; after so
   * many bytes the connection breaks.
   */
  discard(limit: number): void {
    this.#discarded = limit - this.#pending.length;
    this.#pending = Buffer.alloc(0);
    this.#socket.resume();
  }

  /** Returns the socket; bytes that were not read are put back. */
  release(): void {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("close", this.#onEnd);
    this.#socket.pause();
    if (this.#pending.length > 0) this.#socket.unshift(this.#pending);
    this.#pending = Buffer.alloc(0);
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    if (this.#pending.length <= HIGH_WATER_BYTES && this.#socket.isPaused())
      this.#socket.resume();
    return taken;
  }

  #more(ms?: number): Promise<"timeout" | "more"> {
    return new Promise((resolve) => {
      const finish = (outcome: "timeout" | "more"): void => {
        this.#wake = undefined;
        if (timer !== undefined) this.#clock.clearTimeout(timer);
        resolve(outcome);
      };
      const timer =
        ms === undefined
          ? undefined
          : this.#clock.setTimeout(() => finish("timeout"), Math.max(0, ms));
      this.#wake = () => finish("more");
    });
  }
}
