import type { Logger } from "@xo-server/kit";
import type {
  BatchRefs,
  ChangeKind,
  ChangeOwner,
  ChangeRecorder,
  RefLocation,
} from "./change-recorder.js";
import { ChangeRing, type ChangeBatch } from "./change-ring.js";

export type ChangeListener = (changes: ChangeBatch) => void;

/**
 * Listeners are called at the latest after this many changes: the ring must
 * still contain all of them.
 */
const MAX_PENDING = 16_384;

/**
 * Assigns a revision to every change, stores the last changes, and notifies
 * listeners in batches.
 */
export class ChangeFeed implements ChangeRecorder {
  readonly #ring: ChangeRing;
  readonly #logger: Pick<Logger, "error">;
  readonly #listeners = new Set<ChangeListener>();
  readonly #maxPending: number;
  /** Listeners have been notified up to this revision. */
  #notifiedRevision = 0;

  constructor(ringSize: number, logger: Pick<Logger, "error">) {
    this.#ring = new ChangeRing(ringSize);
    this.#logger = logger;
    this.#maxPending = Math.min(MAX_PENDING, Math.max(1, ringSize));
  }

  get revision(): number {
    return this.#ring.revision;
  }

  /** Bytes allocated now. */
  get byteLength(): number {
    return this.#ring.byteLength;
  }

  /** Upper bound of `byteLength`. */
  get limitBytes(): number {
    return this.#ring.limitBytes;
  }

  /** Number of a pool id or class name, for `push`. */
  numberOf(name: string): number {
    return this.#ring.numberOf(name);
  }

  /** Records a change; listeners are notified by `flush`. @returns its revision */
  push(owner: ChangeOwner, kind: ChangeKind, ref: RefLocation): number {
    if (this.#ring.revision - this.#notifiedRevision >= this.#maxPending)
      this.flush();
    return this.#ring.push(owner, kind, ref);
  }

  /**
   * Records an "add" for each of `count` rows of a batch. @returns the revision
   * of the last one
   */
  pushAdded(
    owner: ChangeOwner,
    rows: BatchRefs,
    from: number,
    count: number,
  ): number {
    if (this.#ring.revision - this.#notifiedRevision + count > this.#maxPending)
      this.flush();
    return this.#ring.pushAdded(owner, rows, from, count);
  }

  /**
   * Counts `count` changes without recording them, in constant time. Listeners
   * are called with an empty batch, as the revision has changed; readers of
   * `since` have to read everything again.
   * @returns the revision of the first one
   */
  skip(count: number): number {
    this.flush();
    const first = this.#ring.revision + 1;
    this.#ring.skip(count);
    this.#notifiedRevision = this.#ring.revision;
    this.#notify(this.#ring.since(this.#notifiedRevision));
    return first;
  }

  /**
   * Notifies listeners of the changes since the last flush. An error of a
   * listener is logged and does not affect others.
   */
  flush(): void {
    const changes = this.#ring.since(this.#notifiedRevision);
    this.#notifiedRevision = this.#ring.revision;
    if (changes?.count !== 0) this.#notify(changes);
  }

  #notify(changes: ChangeBatch | undefined): void {
    if (changes === undefined) return;
    for (const listener of this.#listeners)
      try {
        listener(changes);
      } catch (error) {
        this.#logger.error("a listener of inventory changes failed", { error });
      }
  }

  /**
   * Changes after `revision`; "resync" when some of them are no longer stored.
   */
  since(revision: number): ChangeBatch | "resync" {
    return this.#ring.since(revision) ?? "resync";
  }

  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
