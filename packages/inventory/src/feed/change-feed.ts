import type { Logger } from "@xo-server/xen-api";
import {
  ChangeRing,
  type BatchRefs,
  type ChangeBatch,
  type ChangeKind,
  type RefPlace,
} from "./change-ring.js";

export type ChangeListener = (changes: ChangeBatch) => void;

/** Listeners hear at the latest after so many changes: the ring must still hold them. */
const MOST_UNTOLD = 16_384;

/** Numbers every change, remembers the last ones, and tells listeners in batches. */
export class ChangeFeed {
  readonly #ring: ChangeRing;
  readonly #logger: Pick<Logger, "error">;
  readonly #listeners = new Set<ChangeListener>();
  readonly #mostUntold: number;
  #told = 0;

  constructor(ringSize: number, logger: Pick<Logger, "error">) {
    this.#ring = new ChangeRing(ringSize);
    this.#logger = logger;
    this.#mostUntold = Math.min(MOST_UNTOLD, Math.max(1, ringSize));
  }

  get revision(): number {
    return this.#ring.revision;
  }

  get byteLength(): number {
    return this.#ring.byteLength;
  }

  /** What `byteLength` may grow to. */
  get limitBytes(): number {
    return this.#ring.limitBytes;
  }

  numberOf(name: string): number {
    return this.#ring.numberOf(name);
  }

  /** Notes a change; `flush` tells it. Returns its revision. */
  push(
    owner: { readonly pool: number; readonly class: number },
    kind: ChangeKind,
    ref: RefPlace,
  ): number {
    if (this.#ring.revision - this.#told >= this.#mostUntold) this.flush();
    return this.#ring.push(owner, kind, ref);
  }

  /** Notes that rows of a batch were added. Returns the revision of the last. */
  pushAdded(
    owner: { readonly pool: number; readonly class: number },
    rows: BatchRefs,
    from: number,
    count: number,
  ): number {
    if (this.#ring.revision - this.#told + count > this.#mostUntold)
      this.flush();
    return this.#ring.pushAdded(owner, rows, from, count);
  }

  /** Tells what was not told yet. A listener that throws disturbs nobody else. */
  flush(): void {
    const changes = this.#ring.since(this.#told);
    this.#told = this.#ring.revision;
    if (changes === undefined || changes.count === 0) return;
    for (const listener of this.#listeners)
      try {
        listener(changes);
      } catch (error) {
        this.#logger.error("a listener of the inventory failed", { error });
      }
  }

  since(revision: number): ChangeBatch | "resync" {
    return this.#ring.since(revision) ?? "resync";
  }

  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
