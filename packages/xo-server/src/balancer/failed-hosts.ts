import { RECOVERY_MS, type PoolObservation } from "./pool-observation.js";

/** When hosts went down, as far as this server observed it. */
export class FailedHosts {
  readonly #failedAt = new Map<string, number>();

  /**
   * Time of the failure by host id, in ms since the epoch. Hosts that are up again
   * stay in the list during the recovery time.
   */
  get failedAt(): ReadonlyMap<string, number> {
    return this.#failedAt;
  }

  /** A host that is down in the first observation counts as having failed just now. */
  update({ hosts, isConnected }: PoolObservation, now: number): void {
    if (!isConnected) return;
    const down = new Set<string>();
    for (const { id, isUp } of hosts) if (!isUp) down.add(id);
    for (const id of down)
      if (!this.#failedAt.has(id)) this.#failedAt.set(id, now);
    for (const [id, at] of this.#failedAt)
      if (!down.has(id) && now >= at + RECOVERY_MS) this.#failedAt.delete(id);
  }
}
