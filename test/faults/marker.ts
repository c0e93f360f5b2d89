import { setTimeout as pause } from "node:timers/promises";
import type { Inventory } from "@xo-server/inventory";
import type { SimulatedPool } from "@xo-server/xapi-sim";

/**
 * Changes a VM continuously, and measures how long a change is unknown while the
 * pool is reported as current.
 */
export class Marker {
  readonly #pool: SimulatedPool;
  readonly #inventory: Inventory;
  readonly #ref: string;
  #value = 0;
  #writtenAt = 0;
  longestUnknownMs = 0;

  constructor(pool: SimulatedPool, inventory: Inventory) {
    this.#pool = pool;
    this.#inventory = inventory;
    [this.#ref] = pool.database.refs("VM") as Iterable<string> as [string];
    this.#write();
  }

  async watch(ms: number): Promise<void> {
    const until = performance.now() + ms;
    do {
      this.#check();
      await pause(Math.min(50, ms));
    } while (performance.now() < until);
  }

  #write(): void {
    this.#pool.database.update("VM", this.#ref, {
      name_label: `marker ${++this.#value}`,
    });
    this.#writtenAt = performance.now();
  }

  #check(): void {
    const record = this.#inventory.peek("p", "VM", this.#ref);
    const now = performance.now();
    if (record?.["name_label"] === `marker ${this.#value}`) {
      this.#write();
      return;
    }
    const status = this.#inventory.mirrorStatus("p")!;
    const isCurrent =
      status.state === "watching" && status.staleSince === undefined;
    // The time begins when the pool is reported as current.
    if (!isCurrent) this.#writtenAt = now;
    this.longestUnknownMs = Math.max(
      this.longestUnknownMs,
      now - this.#writtenAt,
    );
  }
}
