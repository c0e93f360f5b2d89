import type { Ref } from "@xo-server/model";

/**
 * Bound of the list. With more removals between two checkpoints, the whole pool
 * is rewritten.
 */
const MAX_REMOVALS = 65_536;

interface Removal {
  readonly className: string;
  readonly ref: Ref;
}

/** Objects that were removed since the last checkpoint. */
export class Removals {
  #list: Removal[] = [];
  #hasOverflowed = false;

  get isEmpty(): boolean {
    return this.#list.length === 0 && !this.#hasOverflowed;
  }

  /**
   * True when the list was dropped at its bound: the next checkpoint must
   * rewrite the whole pool.
   */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  add(className: string, ref: Ref): void {
    if (this.#list.length < MAX_REMOVALS) this.#list.push({ className, ref });
    else this.#overflow();
  }

  /** Moves the content into a new list, to be written; this one starts empty. */
  take(): Removals {
    const taken = new Removals();
    taken.#list = this.#list;
    taken.#hasOverflowed = this.#hasOverflowed;
    this.#list = [];
    this.#hasOverflowed = false;
    return taken;
  }

  /** Restores removals that could not be written. */
  restore(taken: Removals): void {
    const list = [...taken.#list, ...this.#list];
    if (taken.#hasOverflowed || list.length > MAX_REMOVALS) this.#overflow();
    else this.#list = list;
  }

  [Symbol.iterator](): Iterator<Removal> {
    return this.#list.values();
  }

  #overflow(): void {
    this.#list = [];
    this.#hasOverflowed = true;
  }
}
