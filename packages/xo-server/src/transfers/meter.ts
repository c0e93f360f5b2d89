import type { WallClock } from "@xo-server/kit";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Checksum } from "./checksum.js";

interface MeterOptions {
  readonly clock: WallClock;
  /** The transfer fails if no byte moves for this time, in ms. */
  readonly idleMs: number;
  /** Name of the transfer, for the error. */
  readonly what: string;
  readonly onBytes?: (bytes: number) => void;
  /** Called when all bytes have arrived. The end waits for the promise and fails with it. */
  readonly finished?: (() => Promise<void>) | undefined;
  /**
   * Size of the source in bytes: the stream ends with the last byte, not with
   * the end of the source. Absent: it ends with the source.
   */
  readonly length?: number | undefined;
  /** Absent: it is not computed. */
  readonly checksum?: Checksum | undefined;
  /** Bytes at the beginning that are counted but not passed on. */
  readonly skip?: number;
}

/** Bytes that wait for the reader. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * Passes the bytes of another stream on, counts them, and fails when no byte
 * moves for the idle limit. The source is paused while the reader is slow.
 * Errors of the source are reported by its owner.
 */
export class Meter extends Readable {
  readonly #options: MeterOptions;
  #source: Readable | undefined;
  #bytes = 0;
  #movedAt: number;
  #timer: unknown;
  #toSkip: number;
  /** Held back until the checksum is known: without it the received data is incomplete. */
  #held: Buffer | undefined;

  constructor(options: MeterOptions) {
    super({ highWaterMark: HIGH_WATER_BYTES });
    this.#options = options;
    this.#movedAt = options.clock.now();
    this.#toSkip = options.skip ?? 0;
    this.#lookIn(options.idleMs);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Starts to read. To be called once. */
  draw(source: Readable): void {
    this.#source = source;
    source.on("data", this.#take);
    source.once("end", this.#finish);
  }

  override _read(): void {
    this.#source?.resume();
  }

  override _destroy(
    error: Error | null,
    done: (error?: Error | null) => void,
  ): void {
    this.#rest();
    // The rest of the body may still be read.
    this.#source?.pause().off("data", this.#take).off("end", this.#finish);
    done(error);
  }

  readonly #take = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#movedAt = this.#options.clock.now();
    const { length = Infinity } = this.#options;
    if (this.#bytes > length) {
      this.destroy(tooLong(this.#bytes, length));
      return;
    }
    this.#options.onBytes?.(this.#bytes);
    this.#options.checksum?.update(chunk);
    const passed = this.#holdBack(this.#skip(chunk));
    if (passed !== undefined && !this.push(passed)) this.#source?.pause();
    if (this.#bytes === length) this.#finish();
  };

  readonly #finish = (): void => {
    this.#rest();
    this.#source?.off("data", this.#take).off("end", this.#finish);
    this.#end().then(
      () => {
        if (this.#held !== undefined) this.push(this.#held);
        this.push(null);
      },
      (error: unknown) => {
        this.destroy(error as Error);
      },
    );
  };

  async #end(): Promise<void> {
    const { finished, checksum } = this.#options;
    checksum?.check();
    await finished?.();
  }

  /** Undefined: no bytes are left. */
  #skip(chunk: Buffer): Buffer | undefined {
    if (this.#toSkip === 0) return chunk;
    const skipped = Math.min(this.#toSkip, chunk.length);
    this.#toSkip -= skipped;
    return skipped === chunk.length ? undefined : chunk.subarray(skipped);
  }

  #holdBack(chunk: Buffer | undefined): Buffer | undefined {
    if (this.#options.checksum?.isExpected !== true) return chunk;
    const before = this.#held;
    this.#held = chunk;
    return before;
  }

  #lookIn(ms: number): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      const { clock, idleMs, what } = this.#options;
      // Not in the future, where the clock was set back.
      this.#movedAt = Math.min(this.#movedAt, clock.now());
      const left = this.#movedAt + idleMs - clock.now();
      if (left > 0) this.#lookIn(left);
      else
        this.destroy(
          new XoError("ABORTED", {
            what: `${what}, as nothing moved for ${idleMs / 1000} s,`,
          }),
        );
    }, ms);
  }

  #rest(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }
}

function tooLong(bytes: number, length: number): XoError {
  return new XoError("ABORTED", {
    what: `after ${bytes} of ${length} bytes, the transfer`,
  });
}
