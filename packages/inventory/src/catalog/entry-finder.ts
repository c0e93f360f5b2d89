import { isRef, type Ref } from "@xo-server/model";
import type { View } from "../views/view.js";
import type { CatalogEntry } from "./catalog.js";
import type { CatalogContext } from "./class-context.js";
import type { FollowedClass } from "./followed-class.js";
import { copyOf } from "./view-encoder.js";
import type { LinkSources } from "./view-links.js";
import { ViewBuilder } from "./view-builder.js";

const UUID_LENGTH = 36;

/**
 * Finds one object of any class: in the tables of followed classes, otherwise
 * in the inventory; then its view is built for this call only.
 */
export class EntryFinder {
  readonly #context: CatalogContext;
  readonly #links: LinkSources;
  readonly #followed: ReadonlyMap<string, FollowedClass>;
  readonly #builders = new Map<string, ViewBuilder>();

  constructor(
    parts: CatalogContext,
    links: LinkSources,
    followed: ReadonlyMap<string, FollowedClass>,
  ) {
    this.#context = parts;
    this.#links = links;
    this.#followed = followed;
  }

  /**
   * @param id id of an object of the API, or an opaque reference of XAPI
   * @returns a copy of its JSON with type and pool; undefined: no such object
   */
  find(id: string): CatalogEntry | undefined {
    return isRef(id)
      ? this.#findByRef(id)
      : (this.#findFollowed(id) ?? this.#findInInventory(id));
  }

  /** See Catalog.poolOf. */
  poolOf(id: string): string | undefined {
    if (!isRef(id))
      for (const { table } of this.#followed.values()) {
        const row = table.findId(id);
        if (row >= 0) return table.pool(row);
      }
    return this.find(id)?.pool;
  }

  #findFollowed(id: string): CatalogEntry | undefined {
    for (const { table } of this.#followed.values()) {
      const row = table.findId(id);
      if (row < 0) continue;
      const [type, pool] = [table.type(row), table.pool(row)];
      return { id, type, pool, json: table.json(row) };
    }
    return undefined;
  }

  /**
   * Looks the id up as a UUID in the inventory; the object counts only if its
   * view has this id.
   */
  #findInInventory(id: string): CatalogEntry | undefined {
    const { inventory, pools } = this.#context;
    for (const [uuid, poolId] of this.#uuidsOf(id)) {
      const found = inventory.getByUuid(uuid, poolId);
      if (found === undefined) continue;
      const pool = pools.numberOf(found.poolId);
      const entry = this.#build(found.className, pool, found.ref);
      if (entry?.id === id) return entry;
    }
    return undefined;
  }

  /**
   * UUIDs that an id may refer to: the id itself, and for `<pool id>-<uuid>`
   * (templates of the product) the UUID in that pool.
   */
  #uuidsOf(id: string): [uuid: string, poolId?: string][] {
    const uuids: [string, string?][] = [[id]];
    if (id.length !== 2 * UUID_LENGTH + 1) return uuids;
    const { inventory, pools } = this.#context;
    const own = id.slice(0, UUID_LENGTH);
    for (const name of inventory.pools)
      if (pools.id(pools.numberOf(name)) === own)
        uuids.push([id.slice(UUID_LENGTH + 1), name]);
    return uuids;
  }

  #findByRef(ref: Ref): CatalogEntry | undefined {
    const { inventory, pools } = this.#context;
    for (const poolId of inventory.pools)
      for (const className of this.#links.views.keys())
        if (inventory.getObject(poolId, className, ref) !== undefined)
          return this.#build(className, pools.numberOf(poolId), ref);
    return undefined;
  }

  #build(className: string, pool: number, ref: Ref): CatalogEntry | undefined {
    const view = this.#links.views.get(className);
    if (view === undefined) return undefined;
    const built = this.#builderOf(view).build(pool, ref);
    if (typeof built === "string") return undefined;
    const json = copyOf(this.#context.encoder.encode(built.view).bytes);
    const { id, type } = built;
    return { id, type, pool: this.#context.pools.name(pool), json };
  }

  #builderOf(view: View): ViewBuilder {
    const known = this.#builders.get(view.className);
    if (known !== undefined) return known;
    const builder = new ViewBuilder(view, this.#links, {
      logger: this.#context.logger,
    });
    this.#builders.set(view.className, builder);
    return builder;
  }
}
