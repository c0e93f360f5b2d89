import { uuidOf } from "./catalog-pool.js";
import { FakePool } from "./fake-pool.js";

const classes = ["pool", "host", "VM", "VBD", "SR"] as const;
/** How many objects of each class a pool may have: few, so that they meet. */
const most = { pool: 1, host: 2, VM: 12, VBD: 12, SR: 4 } as const;

type ClassName = keyof typeof most;

/** Numbers below a limit, the same for the same seed. */
export type Random = (limit: number) => number;

/** mulberry32: seeds that are near each other begin differently. */
export function createRandom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** A pool to which anything may happen: also what a real one never does. */
export class History {
  readonly pool = new FakePool(classes);
  readonly #name: string;
  readonly #random: Random;

  constructor(name: string, random: Random) {
    this.#name = name;
    this.#random = random;
    this.pool.batchSize = 1 + random(9);
    this.pool.put("pool", this.#ref("pool", 0), this.#record("pool", 0));
  }

  steps(limit: number): void {
    for (let left = this.#random(limit + 1); left > 0; left--) this.#step();
  }

  #step(): void {
    const className = classes[this.#random(classes.length)]!;
    const number = this.#random(most[className]);
    const ref = this.#ref(className, number);
    const known = this.pool.objects.get(className)!.get(ref);
    const kind = this.#random(8);
    // The pool's own object is rarely deleted.
    const goes = kind < 2 && (className !== "pool" || this.#random(5) === 0);
    if (known === undefined || kind >= 6)
      this.pool.put(className, ref, this.#record(className, number));
    else if (goes) this.pool.delete(className, ref);
    else this.pool.put(className, ref, { ...known, ...this.#naming() });
  }

  #naming() {
    // Of the load no view knows.
    return { name_label: `é${this.#random(3)}`, load: this.#random(5) };
  }

  /** Some are as XAPI writes them, others are not. */
  #ref(className: ClassName, number: number): string {
    const name = `${className}${number}${this.#name}`;
    return `OpaqueRef:${number % 3 === 0 ? name : uuidOf(name)}`;
  }

  #refs(className: ClassName): string[] {
    const count = this.#random(4);
    return Array.from({ length: count }, () =>
      this.#ref(className, this.#random(most[className])),
    );
  }

  #record(className: ClassName, number: number): object {
    const random = this.#random;
    const name = `${className}${number}`;
    // SRs and templates are the same in all pools, judging by their uuids; some change theirs.
    const isShared = className === "SR" || (className === "VM" && number < 3);
    const own = isShared ? name : `${name}${this.#name}`;
    const uuid = uuidOf(random(12) === 0 ? `${own}+` : own);
    if (className === "VBD")
      return {
        uuid,
        VM: this.#refs("VM")[0] ?? "OpaqueRef:NULL",
        ...(random(2) === 0 ? { device: "xvda" } : {}),
      };
    if (className !== "VM") return { uuid, ...this.#naming() };
    return {
      uuid,
      ...this.#naming(),
      is_a_template: random(4) === 0,
      isDefault: number < 3 && random(3) > 0,
      VBDs: this.#refs("VBD"),
      host: this.#refs("host")[0] ?? "OpaqueRef:NULL",
      twin: uuidOf(`VM${random(most.VM)}${this.#name}`),
      other: this.#other(),
    };
  }

  /** Maps that patches find hard: null, nesting, keys in and out of order. */
  #other(): object {
    const values = [1, null, "ü", { a: { b: 1 } }, { a: { c: null } }, [null]];
    const keys = ["10", "9", "a", "B", "\n", '"', "é", "￿", "😀", "__proto__"];
    const other: object = {};
    for (const key of keys)
      if (this.#random(3) === 0)
        Object.defineProperty(other, key, {
          value: values[this.#random(values.length)],
          enumerable: true,
        });
    return other;
  }
}
