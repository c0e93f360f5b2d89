import type { ChangedRecord, ChangingPool } from "./changing-pool.js";

/** Changes VMs of a pool, one after the other: each change differs from what was before. */
export class GuestEdits {
  readonly #pool: ChangingPool;
  readonly #refs: readonly string[];
  #created = 0;

  constructor(pool: ChangingPool) {
    this.#pool = pool;
    this.#refs = [...pool.objects.refs("VM")].filter((ref) =>
      this.#json(ref).includes('"is_a_template":false'),
    );
  }

  /** `count` VMs with another description; every tenth is also halted, or was and runs again. */
  next(count: number): ChangedRecord[] {
    return Array.from({ length: count }, () => {
      const number = this.#created++;
      const ref = this.#refs[number % this.#refs.length]!;
      const json = this.#json(ref).replace(
        /"name_description":"[^"]*"/,
        `"name_description":"change ${number}"`,
      );
      const isHalted = number % 10 === 0;
      return {
        className: "VM",
        ref,
        json: isHalted
          ? json.replace('"power_state":"Running"', '"power_state":"Halted"')
          : json,
      };
    });
  }

  #json(ref: string): string {
    return this.#pool.objects.json("VM", ref)!.toString("latin1");
  }
}
