import { RECOVERY_MS, type PoolSight } from "./pool-sight.js";

/** When hosts went down, as far as this server saw it. */
export class FailedHosts {
  readonly #failedAt = new Map<string, number>();

  /** In ms since the epoch, by id; of those that are up again as well, until what ran there has had its time. */
  get failedAt(): ReadonlyMap<string, number> {
    return this.#failedAt;
  }

  /** One that is down at the first look may have failed just now. */
  look({ hosts, isConnected }: PoolSight, now: number): void {
    if (!isConnected) return;
    const down = new Set<string>();
    for (const { id, isUp } of hosts) if (!isUp) down.add(id);
    for (const id of down)
      if (!this.#failedAt.has(id)) this.#failedAt.set(id, now);
    for (const [id, at] of this.#failedAt)
      if (!down.has(id) && now >= at + RECOVERY_MS) this.#failedAt.delete(id);
  }
}
