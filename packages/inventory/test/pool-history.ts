import { FakePool } from "./fake-pool.js";

export const classes = ["VM", "VBD", "SR", "console"];

/** Numbers below `limit`, the same for the same seed. */
export function createRandom(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** A pool to which things happen. */
export class History {
  readonly pool = new FakePool(classes);
  readonly #random: (limit: number) => number;
  #next = 0;

  constructor(random: (limit: number) => number) {
    this.#random = random;
    this.pool.batchSize = 1 + random(9);
  }

  step(): void {
    const className = classes[this.#random(classes.length)]!;
    const refs = [...this.pool.objects.get(className)!.keys()];
    const kind = this.#random(10);
    if (kind < 5 || refs.length === 0) {
      const ref = `OpaqueRef:${this.#next++}`;
      this.pool.put(className, ref, this.#record(ref));
    } else {
      const ref = refs[this.#random(refs.length)]!;
      if (kind < 8) this.pool.put(className, ref, this.#record(ref));
      else this.pool.delete(className, ref);
    }
  }

  steps(most: number): void {
    for (let left = this.#random(most + 1); left > 0; left--) this.step();
  }

  #record(ref: string): object {
    // Now and then the same content as before: no change at all.
    const version = this.#random(4);
    const padding = "x".repeat(this.#random(5) ** 5);
    return { uuid: `uuid:${ref}`, name_label: `é${version}`, padding };
  }
}
