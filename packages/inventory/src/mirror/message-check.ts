/**
 * A pool keeps its last deletions of messages, at least 256. With fewer
 * changes between two answers of event.from none was dropped.
 */
const SAFE_JUMP = 200n;

interface MessageCheckOptions {
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** Least time between two listings in milliseconds; default 60,000. */
  readonly minMs?: number;
  /** Messages are listed at least this often, in milliseconds; default 3,600,000. */
  readonly maxMs?: number;
}

/**
 * Decides when the messages of a pool must be listed again. XAPI drops
 * deletions silently and reports no number of messages: they are listed when
 * the message half of the event token has jumped, and at least every hour.
 * While listings find no difference, the interval after a jump doubles.
 */
export class MessageCheck {
  readonly #now: () => number;
  readonly #minMs: number;
  readonly #maxMs: number;
  #listedAt: number;
  #waitMs: number;
  #generation: bigint | undefined;
  #hasJumped = false;

  constructor(options: MessageCheckOptions) {
    this.#now = options.now;
    this.#minMs = options.minMs ?? 60_000;
    this.#maxMs = options.maxMs ?? 3_600_000;
    this.#listedAt = this.#now();
    this.#waitMs = this.#minMs;
  }

  /** All classes were listed, messages too; the token is from before. */
  reset(token: string): void {
    this.#listedAt = this.#now();
    this.#waitMs = this.#minMs;
    this.#hasJumped = false;
    // event.inject reports no generation of messages.
    this.#generation = messageGeneration(token) || undefined;
  }

  /**
   * The snapshot contains all changes up to this token. Messages are listed at the
   * next token if deletions may have been dropped since.
   */
  resume(token: string): void {
    this.reset(token);
    this.#hasJumped = this.#generation === undefined;
    this.#listedAt -= this.#minMs;
  }

  /**
   * To be called after each listing that `isDue` caused.
   * @param foundChanges whether the listing changed anything in the store
   */
  recordListing(foundChanges: boolean): void {
    this.#listedAt = this.#now();
    this.#hasJumped = false;
    this.#waitMs = foundChanges
      ? this.#minMs
      : Math.min(this.#maxMs, this.#waitMs * 2);
  }

  /**
   * To be called with the token of each answer of event.from.
   * @returns whether messages must be listed now
   */
  isDue(token: string): boolean {
    const generation = messageGeneration(token);
    const last = this.#generation;
    if (generation !== undefined && last !== undefined)
      this.#hasJumped ||= generation - last > SAFE_JUMP;
    this.#generation = generation ?? last;
    const elapsedMs = this.#now() - this.#listedAt;
    return elapsedMs >= (this.#hasJumped ? this.#waitMs : this.#maxMs);
  }
}

/** The second number of a token `<database generation>,<message generation>`. */
function messageGeneration(token: string): bigint | undefined {
  const match = /^\d+,(\d+)$/.exec(token);
  return match === null ? undefined : BigInt(match[1]!);
}
