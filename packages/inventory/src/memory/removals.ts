import type { Ref } from "@xo-server/model";

/** More of them between two checkpoints: everything is written anew. */
const MOST = 65_536;

export interface Removal {
  readonly className: string;
  readonly ref: Ref;
}

/** Objects that went since the last checkpoint. */
export class Removals {
  #list: Removal[] = [];
  #hasOverflown = false;

  get isEmpty(): boolean {
    return this.#list.length === 0 && !this.#hasOverflown;
  }

  /** Some were forgotten: only the whole pool written anew tells of them. */
  get hasOverflown(): boolean {
    return this.#hasOverflown;
  }

  add(className: string, ref: Ref): void {
    if (this.#list.length < MOST) this.#list.push({ className, ref });
    else this.#overflow();
  }

  /** What is there; from now on it collects for the next. */
  take(): Removals {
    const taken = new Removals();
    taken.#list = this.#list;
    taken.#hasOverflown = this.#hasOverflown;
    this.#list = [];
    this.#hasOverflown = false;
    return taken;
  }

  /** They could not be written. */
  putBack(taken: Removals): void {
    const list = [...taken.#list, ...this.#list];
    if (taken.#hasOverflown || list.length > MOST) this.#overflow();
    else this.#list = list;
  }

  [Symbol.iterator](): Iterator<Removal> {
    return this.#list.values();
  }

  #overflow(): void {
    this.#list = [];
    this.#hasOverflown = true;
  }
}
