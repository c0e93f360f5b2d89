import { Transform, type TransformCallback } from "node:stream";
import type { MonotonicClock } from "@xo-server/kit";

/** A copy ends with an error when no byte has passed for this time, in ms. */
export const IDLE_MS = 2_000;
/** A copy may take this time, in ms, and the time of its bytes at the lowest rate. */
const BASE_MS = 5_000;
const LOWEST_BYTES_PER_MS = 2_000;

interface CopyTransferOptions {
  /** Size of the copy. */
  readonly bytes: number;
  readonly clock: MonotonicClock;
}

/**
 * Passes the bytes of a copy on, from the disk to the network or in reverse. Ends with
 * an error when they are too slow, or not as many as announced.
 */
export class CopyTransfer extends Transform {
  readonly #clock: MonotonicClock;
  readonly #limit: unknown;
  #idle: unknown;
  #left: number;

  constructor({ bytes, clock }: CopyTransferOptions) {
    super();
    this.#clock = clock;
    this.#left = bytes;
    const limitMs = BASE_MS + bytes / LOWEST_BYTES_PER_MS;
    this.#limit = clock.setTimeout(() => {
      this.#fail(`it takes more than ${Math.round(limitMs / 1000)} s`);
    }, limitMs);
    this.#waitForBytes();
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: TransformCallback,
  ): void {
    this.#left -= chunk.length;
    if (this.#left < 0) {
      done(new Error("it is longer than announced"));
      return;
    }
    this.#waitForBytes();
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(
      this.#left === 0
        ? null
        : new Error(`the file ends ${this.#left} bytes too early`),
    );
  }

  override _destroy(
    error: Error | null,
    done: (error?: Error | null) => void,
  ): void {
    this.#clock.clearTimeout(this.#limit);
    this.#clock.clearTimeout(this.#idle);
    done(error);
  }

  #waitForBytes(): void {
    this.#clock.clearTimeout(this.#idle);
    this.#idle = this.#clock.setTimeout(() => {
      this.#fail(`no bytes for ${IDLE_MS / 1000} s`);
    }, IDLE_MS);
  }

  #fail(reason: string): void {
    this.destroy(new Error(reason));
  }
}
