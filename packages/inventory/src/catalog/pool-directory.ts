import { XoError, type Ref } from "@xo-server/model";
import type { Inventory } from "../mirror/inventory.js";
import { MAX_POOLS } from "./view-row-table.js";

interface PoolEntry {
  readonly name: string;
  /** Reference and UUID of the pool's own record, as read last. */
  ref: Ref | undefined;
  id: string | undefined;
  /** The pool's own record has changed since it was read. */
  isOutdated: boolean;
  wasRead: boolean;
}

/**
 * Numbers the pools (numbers are never reused) and caches reference and id of
 * each pool's own record.
 */
export class PoolDirectory {
  readonly #inventory: Inventory;
  readonly #entries: PoolEntry[] = [];
  readonly #numbers = new Map<string, number>();
  #changedIds = new Set<number>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  get count(): number {
    return this.#entries.length;
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#entries.length;
    if (number === MAX_POOLS)
      throw new XoError("UNSUPPORTED", {
        what: `a pool beyond ${MAX_POOLS}`,
        reason: "rows have 16 bits for its number",
      });
    this.#entries.push({
      name,
      ref: undefined,
      id: undefined,
      isOutdated: true,
      wasRead: false,
    });
    this.#numbers.set(name, number);
    return number;
  }

  name(pool: number): string {
    return this.#entries[pool]!.name;
  }

  /** The pool's own record was added, changed or removed. */
  markOutdated(pool: number): void {
    this.#entries[pool]!.isOutdated = true;
  }

  /** UUID of the pool's own record; undefined while the pool has none. */
  id(pool: number): string | undefined {
    return this.#entry(pool).id;
  }

  ref(pool: number): Ref | undefined {
    return this.#entry(pool).ref;
  }

  /**
   * Pools whose id has changed after it was read, since the last call; also
   * when it has changed back.
   */
  takeChangedIds(): ReadonlySet<number> {
    const moved = this.#changedIds;
    this.#changedIds = new Set();
    return moved;
  }

  #entry(pool: number): PoolEntry {
    const entry = this.#entries[pool]!;
    if (!entry.isOutdated) return entry;
    const { id, wasRead } = entry;
    this.#readEntry(entry);
    if (wasRead && entry.id !== id) this.#changedIds.add(pool);
    return entry;
  }

  #readEntry(entry: PoolEntry): void {
    entry.isOutdated = false;
    entry.wasRead = true;
    entry.ref = undefined;
    entry.id = undefined;
    for (const one of this.#inventory.list("pool", { poolId: entry.name })) {
      entry.ref = one.ref;
      entry.id = one.uuid;
      break;
    }
  }
}
