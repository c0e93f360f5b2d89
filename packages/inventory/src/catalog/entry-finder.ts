import { isRef, type Ref } from "@xo-server/model";
import type { View } from "../views/view.js";
import type { CatalogEntry } from "./catalog.js";
import type { CatalogParts } from "./class-parts.js";
import type { FollowedClass } from "./followed-class.js";
import { copyOf } from "./view-encoder.js";
import type { LinkSources } from "./view-links.js";
import { ViewMaker } from "./view-maker.js";

const UUID_LENGTH = 36;

/** Finds one object of any class: in the tables of those that are followed, else in the inventory, made on the spot and not kept. */
export class EntryFinder {
  readonly #parts: CatalogParts;
  readonly #links: LinkSources;
  readonly #followed: ReadonlyMap<string, FollowedClass>;
  readonly #makers = new Map<string, ViewMaker>();

  constructor(
    parts: CatalogParts,
    links: LinkSources,
    followed: ReadonlyMap<string, FollowedClass>,
  ) {
    this.#parts = parts;
    this.#links = links;
    this.#followed = followed;
  }

  find(id: string): CatalogEntry | undefined {
    return isRef(id) ? this.#byRef(id) : (this.#shown(id) ?? this.#stored(id));
  }

  #shown(id: string): CatalogEntry | undefined {
    for (const { table } of this.#followed.values()) {
      const row = table.findId(id);
      if (row < 0) continue;
      const [type, pool] = [table.type(row), table.pool(row)];
      return { id, type, pool, json: table.json(row) };
    }
    return undefined;
  }

  /** A record that has the id's uuid, if its object has this id. */
  #stored(id: string): CatalogEntry | undefined {
    const { inventory, pools } = this.#parts;
    for (const [uuid, poolId] of this.#uuidsOf(id)) {
      const found = inventory.getByUuid(uuid, poolId);
      if (found === undefined) continue;
      const pool = pools.numberOf(found.poolId);
      const entry = this.#make(found.className, pool, found.ref);
      if (entry?.id === id) return entry;
    }
    return undefined;
  }

  /** The id itself and, where it is made of a pool's id and another uuid, that one in that pool. */
  #uuidsOf(id: string): [uuid: string, poolId?: string][] {
    const uuids: [string, string?][] = [[id]];
    if (id.length !== 2 * UUID_LENGTH + 1) return uuids;
    const { inventory, pools } = this.#parts;
    const own = id.slice(0, UUID_LENGTH);
    for (const name of inventory.pools)
      if (pools.id(pools.numberOf(name)) === own)
        uuids.push([id.slice(UUID_LENGTH + 1), name]);
    return uuids;
  }

  #byRef(ref: Ref): CatalogEntry | undefined {
    const { inventory, pools } = this.#parts;
    for (const poolId of inventory.pools)
      for (const className of this.#links.views.keys())
        if (inventory.getObject(poolId, className, ref) !== undefined)
          return this.#make(className, pools.numberOf(poolId), ref);
    return undefined;
  }

  #make(className: string, pool: number, ref: Ref): CatalogEntry | undefined {
    const view = this.#links.views.get(className);
    if (view === undefined) return undefined;
    const made = this.#makerOf(view).make(pool, ref);
    if (typeof made === "string") return undefined;
    const json = copyOf(this.#parts.encoder.encode(made.view).bytes);
    const { id, type } = made;
    return { id, type, pool: this.#parts.pools.name(pool), json };
  }

  #makerOf(view: View): ViewMaker {
    const known = this.#makers.get(view.className);
    if (known !== undefined) return known;
    const maker = new ViewMaker(view, this.#links, this.#parts.logger);
    this.#makers.set(view.className, maker);
    return maker;
  }
}
