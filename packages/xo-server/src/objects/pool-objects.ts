import type { Catalog, ViewObject } from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { followed } from "../tasks/current-work.js";
import type { Pools } from "../pools/pools.js";

/** An object, and the pool that it can be changed on. */
export interface PoolObject {
  readonly id: string;
  readonly type: string;
  readonly ref: Ref;
  /** As clients see it. */
  readonly object: ViewObject;
  readonly xapi: Xapi;
}

/** From ids that clients know to what XAPI's calls take. */
export class PoolObjects {
  readonly #catalog: Pick<Catalog, "get" | "classOf">;
  readonly #pools: Pick<Pools, "xapi">;

  constructor(
    catalog: Pick<Catalog, "get" | "classOf">,
    pools: Pick<Pools, "xapi">,
  ) {
    this.#catalog = catalog;
    this.#pools = pools;
  }

  /**
   * @param types that are meant; none: any
   * @throws XoError NO_SUCH_OBJECT, NOT_CONNECTED
   */
  get(id: string, ...types: readonly string[]): PoolObject {
    const entry = this.#catalog.get(id);
    if (
      entry === undefined ||
      (types.length > 0 && !types.includes(entry.type))
    )
      throw new XoError("NO_SUCH_OBJECT", { type: types[0] ?? "object", id });
    const object = JSON.parse(entry.json.toString()) as ViewObject;
    return {
      id: entry.id,
      type: entry.type,
      ref: object["_xapiRef"] as Ref,
      object,
      xapi: followed(this.#pools.xapi(entry.pool), entry.pool),
    };
  }

  /** The id of the connection through which an object is known. */
  connectionOf(id: string): string | undefined {
    return this.#catalog.get(id)?.pool;
  }

  /** The id of what XAPI calls by a reference. It may take a moment until it is known here. */
  idOf(ref: Ref): string | undefined {
    return this.#catalog.get(ref)?.id;
  }

  /** XAPI's name for the class of objects of this type. */
  classOf(type: string): string {
    return this.#catalog.classOf(type)!;
  }
}
