import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { Checksum } from "./checksum.js";

export interface MeterOptions {
  readonly clock: Clock;
  /** Nothing may stand still for longer, in ms. */
  readonly idleMs: number;
  /** For the error, should it. */
  readonly what: string;
  readonly onBytes?: (bytes: number) => void;
  /** Called when all bytes have come; the end waits for it, and fails with it. */
  readonly finished?: (() => Promise<void>) | undefined;
  /** Absent: it is not computed. */
  readonly checksum?: Checksum | undefined;
  /** So many bytes at the beginning are counted, and not let through. */
  readonly skip?: number;
}

/** Bytes that wait for whoever reads. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * Lets the bytes of another stream through, counts them, and gives up when
 * nothing moves any more. What it draws from is paused while its reader is slow.
 * That the other breaks off is for whoever has it to say.
 */
export class Meter extends Readable {
  readonly #options: MeterOptions;
  #source: Readable | undefined;
  #bytes = 0;
  #movedAt: number;
  #timer: unknown;
  #toSkip: number;
  /** While the sum may turn out wrong: without it nobody can take what came for the whole. */
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

  /** Once. */
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
    // Somebody may want to read the rest of it.
    this.#source?.pause().off("data", this.#take).off("end", this.#finish);
    done(error);
  }

  readonly #take = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#movedAt = this.#options.clock.now();
    this.#options.onBytes?.(this.#bytes);
    this.#options.checksum?.update(chunk);
    const told = this.#holdBack(this.#skip(chunk));
    if (told !== undefined && !this.push(told)) this.#source?.pause();
  };

  readonly #finish = (): void => {
    this.#rest();
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

  /** Undefined: nothing is left of it. */
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
