import type { MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner, Store } from "@xo-server/store";

interface FreeLeasesOptions {
  readonly store: Pick<Store["leases"], "listFree">;
  readonly self: LeaseOwner;
  /** Names of the running servers, with this one. */
  readonly servers: () => readonly string[];
  readonly leaseMs: number;
  readonly clock: MonotonicClock;
}

/** Which leases this server can take, and when the next one of another server expires. */
export class FreeLeases {
  readonly #options: FreeLeasesOptions;
  #readAt = -Infinity;
  /** Since when it has been read without a pause that is longer than half of the lease time. */
  #availableSince = Infinity;
  #nextExpiryMs = Infinity;

  constructor(options: FreeLeasesOptions) {
    this.#options = options;
  }

  /** In ms from the last reading; Infinity: none expires within the time that was given. */
  get nextExpiryMs(): number {
    return this.#nextExpiryMs;
  }

  /**
   * @param withinMs expiries within this time are reported
   * @returns subjects that can be taken now, and the servers that share them
   * @throws XoError STORE_UNAVAILABLE
   */
  async read(withinMs: number): Promise<{
    readonly subjects: ReadonlySet<string>;
    readonly servers: readonly string[];
  }> {
    const { store, self, servers } = this.#options;
    this.#nextExpiryMs = Infinity;
    const listed = await store.listFree(self, withinMs);
    const free = listed.filter(({ expiresInMs }) => expiresInMs === 0);
    for (const { expiresInMs } of listed)
      if (expiresInMs > 0 && expiresInMs < this.#nextExpiryMs)
        this.#nextExpiryMs = expiresInMs;
    // A server that was killed is listed as running for a moment longer than it has leases.
    const lost = new Set(
      this.#wasAvailable() ? free.map(({ lostBy }) => lostBy) : [],
    );
    return {
      subjects: new Set(free.map(({ subject }) => subject)),
      servers: servers().filter((name) => !lost.has(name)),
    };
  }

  /** False: the database was unavailable, perhaps for the servers whose leases have expired as well. */
  #wasAvailable(): boolean {
    const { clock, leaseMs } = this.#options;
    const now = clock.now();
    if (now - this.#readAt > leaseMs / 2) this.#availableSince = now;
    this.#readAt = now;
    return now - this.#availableSince >= leaseMs / 2;
  }
}
