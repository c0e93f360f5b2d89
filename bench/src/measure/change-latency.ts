import type { ChangeBatch, Inventory } from "@xo-server/inventory";
import { percentile } from "../harness/figures.js";

/** What the simulator's churn writes into other_config of each VM that it changes: Unix time in ms. */
const CHANGED_AT = "sim:changed_at";
/**
 * Samples one VM of sixteen, by the end of its reference: reading all of them would dominate the
 * measurement.
 */
const SAMPLED = "0";

/** How old changes of VMs are when the inventory reports them. */
export class ChangeLatency {
  readonly #inventory: Inventory;
  #latencies: number[] = [];
  #changes = 0;
  /** The last such time of each VM: it may change for other reasons. */
  readonly #reported = new Map<string, number>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
    inventory.subscribe((batch) => {
      this.#note(batch);
    });
  }

  restart(): void {
    this.#latencies = [];
    this.#changes = 0;
  }

  /** Since the last restart, `seconds` ago. */
  figures(seconds: number): Record<string, number> {
    const latencies = this.#latencies;
    return {
      changesSeenPerSecond: this.#changes / seconds,
      latencySamples: latencies.length,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      maxMs: percentile(latencies, 1),
    };
  }

  #note(batch: ChangeBatch): void {
    const now = performance.timeOrigin + performance.now();
    this.#changes += batch.count;
    for (let i = 0; i < batch.count; i++) {
      if (batch.className(i) !== "VM" || batch.kind(i) !== "update") continue;
      const ref = batch.ref(i);
      if (!ref.endsWith(SAMPLED)) continue;
      const changedAt = this.#changedAt(batch.poolId(i), ref);
      if (changedAt === undefined || this.#reported.get(ref) === changedAt)
        continue;
      this.#reported.set(ref, changedAt);
      this.#latencies.push(now - changedAt);
    }
  }

  #changedAt(poolId: string, ref: string): number | undefined {
    const config = this.#inventory.get(poolId, "VM", ref)?.["other_config"];
    const text = (config as Record<string, string> | undefined)?.[CHANGED_AT];
    return text === undefined ? undefined : Number(text);
  }
}
