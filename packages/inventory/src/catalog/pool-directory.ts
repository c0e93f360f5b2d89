import { XoError, type Ref } from "@xo-server/model";
import type { Inventory } from "../inventory.js";
import { MOST_POOLS } from "./row-table.js";

interface PoolEntry {
  readonly name: string;
  /** Reference and id of the pool's own object, as far as it is known. */
  ref: Ref | undefined;
  id: string | undefined;
  /** Something has happened to the pool's own object since. */
  isOutdated: boolean;
  wasRead: boolean;
}

/** Pools by number, for ever, and the object that each pool is itself. */
export class PoolDirectory {
  readonly #inventory: Inventory;
  readonly #entries: PoolEntry[] = [];
  readonly #numbers = new Map<string, number>();
  #moved = new Set<number>();

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
    if (number === MOST_POOLS)
      throw new XoError("UNSUPPORTED", {
        what: `a pool beyond ${MOST_POOLS}`,
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

  /** The pool's own object has changed, come or gone. */
  outdate(pool: number): void {
    this.#entries[pool]!.isOutdated = true;
  }

  /** Id of the pool's own object; undefined while it is not known. */
  id(pool: number): string | undefined {
    return this.#entry(pool).id;
  }

  ref(pool: number): Ref | undefined {
    return this.#entry(pool).ref;
  }

  /** Pools of which somebody has read another id than before, since this was asked last: also when it is back to the old one. */
  takeMoved(): ReadonlySet<number> {
    const moved = this.#moved;
    this.#moved = new Set();
    return moved;
  }

  #entry(pool: number): PoolEntry {
    const entry = this.#entries[pool]!;
    if (!entry.isOutdated) return entry;
    const { id, wasRead } = entry;
    this.#read(entry);
    if (wasRead && entry.id !== id) this.#moved.add(pool);
    return entry;
  }

  #read(entry: PoolEntry): void {
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
