import { CHUNK_SIZE } from "../format/limits.js";
import { BufferPool } from "../buffer-pool.js";
import type { BlockSource } from "../write/block-source.js";
import { StallTimer, type SharingLimits } from "./sharing-limits.js";

/** Bytes that one reader has read, and others will request. */
interface Held {
  readonly offset: number;
  readonly length: number;
  readonly buffer: Buffer;
  readonly isRead: Promise<void>;
  /** Readers that have not requested it. */
  readonly pending: Set<number>;
  /** Readers that have not copied it. */
  users: number;
}

/**
 * The content of a disk for several readers that read about the same ranges:
 * each range is read once, while they are not too far apart. A reader that requests
 * for other ranges reads them for itself.
 */
export class SharedBlocks {
  readonly #source: BlockSource;
  readonly #limits: SharingLimits;
  readonly #readers: Set<number>;
  readonly #held = new Map<string, Held>();
  readonly #pool = new BufferPool(CHUNK_SIZE);
  readonly #waiting = new Set<() => void>();
  /** Grows when readers proceed. */
  #taken = 0;

  /** @param readers their number; each has to be ended by `leave` */
  constructor(source: BlockSource, readers: number, limits: SharingLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#readers = new Set(Array.from({ length: readers }, (_, i) => i));
  }

  view(reader: number): BlockSource {
    const source = this.#source;
    const { size, concurrency } = source;
    return {
      size,
      ...(concurrency !== undefined && { concurrency }),
      read: (offset, into) => this.#read(reader, offset, into),
      ...(source.allocated && {
        allocated: (offset: number, length: number) =>
          source.allocated!(offset, length),
      }),
      unshared: source,
    };
  }

  /** The others no longer wait for this reader. */
  leave(reader: number): void {
    if (!this.#readers.delete(reader)) return;
    for (const [key, held] of this.#held)
      if (held.pending.delete(reader)) this.#release(key, held);
    this.#wake();
  }

  async #read(reader: number, offset: number, into: Buffer): Promise<void> {
    const key = `${offset}+${into.length}`;
    for (;;) {
      const held = this.#held.get(key);
      if (held?.pending.delete(reader) === true)
        return this.#take(key, held, into);
      const isAlone = !this.#readers.has(reader) || this.#readers.size < 2;
      if (isAlone || this.#isBehind(reader) || into.length > CHUNK_SIZE)
        return this.#source.read(offset, into);
      if (this.#held.size < this.#limits.parts)
        return this.#take(key, this.#hold(reader, { key, offset, into }), into);
      await this.#room();
    }
  }

  /** Whether others have read what this reader has not requested. */
  #isBehind(reader: number): boolean {
    for (const { pending } of this.#held.values())
      if (pending.has(reader)) return true;
    return false;
  }

  #hold(
    reader: number,
    {
      key,
      offset,
      into,
    }: { readonly key: string; readonly offset: number; readonly into: Buffer },
  ): Held {
    const { length } = into;
    const buffer = this.#pool.take();
    const isRead = this.#source.read(offset, buffer.subarray(0, length));
    // The caller that takes it gets the error.
    isRead.catch(() => undefined);
    const users = this.#readers.size;
    const pending = new Set(this.#readers);
    pending.delete(reader);
    const held = { offset, length, buffer, isRead, pending, users };
    this.#held.set(key, held);
    return held;
  }

  async #take(key: string, held: Held, into: Buffer): Promise<void> {
    this.#taken++;
    if (held.pending.size === 0) this.#forget(key, held);
    try {
      await held.isRead;
      held.buffer.copy(into, 0, 0, held.length);
    } finally {
      this.#release(key, held);
    }
  }

  #release(key: string, held: Held): void {
    held.users--;
    if (held.pending.size === 0) this.#forget(key, held);
    if (held.users === 0)
      // A reader may have left while the bytes arrive.
      void held.isRead
        .catch(() => undefined)
        .then(() => {
          this.#pool.release(held.buffer);
        });
  }

  #forget(key: string, held: Held): void {
    if (this.#held.get(key) !== held) return;
    this.#held.delete(key);
    this.#wake();
  }

  /** Resolves when readers have proceeded, or when those that do not were left behind. */
  async #room(): Promise<void> {
    const before = this.#taken;
    const timer = new StallTimer(this.#limits);
    let wake: () => void = () => undefined;
    const isWoken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    const isStalled = await timer.race(isWoken);
    this.#waiting.delete(wake);
    if (!isStalled || this.#taken !== before) return;
    const late = [...this.#held.values()].flatMap(({ pending }) => [
      ...pending,
    ]);
    for (const reader of late) this.leave(reader);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
