import type { LivePool } from "../src/pools/pools.js";
import type { PoolSettings } from "../src/pools/pool-settings.js";
import type { PoolStatus } from "../src/status/status.js";

/** A pool whose status is what a test says. */
export class FakePool implements LivePool {
  current: PoolStatus;
  stopped = false;

  constructor({ id, label, hosts }: PoolSettings) {
    this.current = {
      id,
      label,
      pool: null,
      address: hosts[0]!,
      state: "connecting",
      since: new Date(0).toISOString(),
      staleSince: null,
      error: null,
      transport: null,
      objects: 0,
      counts: {},
      changesPerSecond: 0,
      lastChangeAt: null,
      loadMs: null,
      loadBytes: null,
      revision: 0,
    };
  }

  status(): PoolStatus {
    return this.current;
  }

  summary(): PoolStatus {
    return this.current;
  }

  become(change: Partial<PoolStatus>): void {
    this.current = { ...this.current, ...change };
  }

  async stop(): Promise<void> {
    this.stopped = true;
  }
}
