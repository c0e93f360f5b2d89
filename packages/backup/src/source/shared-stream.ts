import { RepositoryError } from "../errors.js";
import type { BlockStream, StreamPart } from "../write/block-source.js";
import { StallTimer, type SharingLimits } from "./sharing-limits.js";

/** Content that arrives once, for several readers: each gets all parts. */
export class SharedStream {
  readonly #stream: BlockStream;
  readonly #limits: SharingLimits;
  readonly #signal: AbortSignal;
  /** Parts that a reader has not taken; none for one that has left. */
  readonly #queues = new Map<number, StreamPart[]>();
  readonly #stalled = new Set<number>();
  readonly #waiting = new Set<() => void>();
  #iterator: AsyncGenerator<StreamPart, void> | undefined;
  #filling: Promise<void> | undefined;
  #hasEnded = false;
  /** Grows when readers proceed. */
  #taken = 0;

  /** @param readers their number; each has to be ended by `leave` */
  constructor(
    stream: BlockStream,
    readers: number,
    { limits, signal }: { limits: SharingLimits; signal: AbortSignal },
  ) {
    this.#stream = stream;
    this.#limits = limits;
    this.#signal = signal;
    for (let i = 0; i < readers; i++) this.#queues.set(i, []);
  }

  view(reader: number): BlockStream {
    const stream = this.#stream;
    return {
      get size() {
        return stream.size;
      },
      get total() {
        return stream.total;
      },
      get isOrdered() {
        return stream.isOrdered;
      },
      // The same for all readers: none continues with the next disk before the stream has ended.
      ...(stream.position && { position: stream.position }),
      parts: () => this.#parts(reader),
    };
  }

  /** The others no longer wait for this reader. The stream is closed after the last. */
  leave(reader: number): void {
    const parts = this.#queues.get(reader);
    if (parts === undefined) return;
    for (const { release } of parts) release?.();
    this.#queues.delete(reader);
    this.#wake();
    if (this.#queues.size > 0 || this.#iterator === undefined) return;
    // Its error would follow from that of the readers.
    this.#iterator.return(undefined).catch(() => undefined);
  }

  async *#parts(reader: number): AsyncGenerator<StreamPart, void> {
    try {
      for (;;) {
        const queue = this.#queues.get(reader);
        if (queue === undefined) throw this.#left(reader);
        const part = queue.shift();
        if (part !== undefined) {
          this.#taken++;
          this.#wake();
          yield part;
        } else if (this.#hasEnded) return;
        else
          await (this.#filling ??= this.#fill().finally(() => {
            this.#filling = undefined;
          }));
      }
    } finally {
      this.leave(reader);
    }
  }

  /** Reads the next part for all readers. */
  async #fill(): Promise<void> {
    while (this.#isFull()) await this.#room();
    this.#iterator ??= this.#stream.parts(this.#signal);
    const next = await this.#iterator.next();
    if (next.done === true) {
      this.#hasEnded = true;
      return;
    }
    const part = next.value;
    const queues = [...this.#queues.values()];
    // A delta is completed in the buffer of the part: each reader has its own.
    for (const queue of queues.slice(1))
      queue.push({ ...withoutRelease(part), bytes: Buffer.from(part.bytes) });
    if (queues[0] === undefined) part.release?.();
    else queues[0].push(part);
  }

  #isFull(): boolean {
    for (const parts of this.#queues.values())
      if (parts.length >= this.#limits.parts) return true;
    return false;
  }

  /** Resolves when readers have proceeded, or when those that do not were left behind. */
  async #room(): Promise<void> {
    const before = this.#taken;
    let wake: () => void = () => undefined;
    const isWoken = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    const isStalled = await new StallTimer(this.#limits).race(isWoken);
    this.#waiting.delete(wake);
    if (!isStalled || this.#taken !== before) return;
    for (const [reader, parts] of this.#queues)
      if (parts.length >= this.#limits.parts) {
        this.#stalled.add(reader);
        this.leave(reader);
      }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #left(reader: number): RepositoryError {
    return new RepositoryError(
      "transfer-failed",
      this.#stalled.has(reader)
        ? "the repository was too slow for the stream that others read too"
        : "the stream is closed",
    );
  }
}

function withoutRelease({ release, ...part }: StreamPart): StreamPart {
  void release;
  return part;
}
