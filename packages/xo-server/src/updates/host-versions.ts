import type { Inventory } from "@xo-server/inventory";
import { softwareVersion } from "./software-version.js";

interface KnownVersion {
  /** Of the host's record, when it was read. */
  readonly revision: number | undefined;
  readonly version: string;
}

/**
 * Software versions of the hosts of all pools. The record of a host is read
 * when it has changed, and only one in a step of the slicer: with a thousand
 * hosts, reading all at once would block the event loop for 100 ms.
 */
export class HostVersions {
  readonly #inventory: Pick<Inventory, "list" | "peek" | "runInSlices">;
  /** By pool connection and opaque reference. */
  #known = new Map<string, KnownVersion>();

  constructor(inventory: Pick<Inventory, "list" | "peek" | "runInSlices">) {
    this.#inventory = inventory;
  }

  /**
   * Counts the pools whose hosts run different versions.
   * @param pools ids of pool connections
   */
  async countDifferent(pools: readonly string[]): Promise<number> {
    const read = new Map<string, KnownVersion>();
    let different = 0;
    const versionsOf = (pool: string) => this.#versionsOf(pool, read);
    await this.#inventory.runInSlices(
      "host versions",
      (function* () {
        for (const pool of pools)
          if ((yield* versionsOf(pool)).size > 1) different++;
      })(),
      "background",
    );
    this.#known = read;
    return different;
  }

  /** @param read filled with the hosts of the pool */
  *#versionsOf(
    pool: string,
    read: Map<string, KnownVersion>,
  ): Generator<void, ReadonlySet<string>, void> {
    const versions = new Set<string>();
    for (const { ref, revision } of this.#inventory.list("host", {
      poolId: pool,
    })) {
      const key = `${pool} ${ref}`;
      const known = this.#known.get(key);
      const current =
        known !== undefined && known.revision === revision
          ? known
          : { revision, version: this.#read(pool, ref) };
      read.set(key, current);
      versions.add(current.version);
      yield;
    }
    return versions;
  }

  #read(pool: string, ref: string): string {
    const record = this.#inventory.peek(pool, "host", ref);
    return softwareVersion(record?.software_version);
  }
}
