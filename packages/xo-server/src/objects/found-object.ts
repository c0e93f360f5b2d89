import type { CatalogEntry, ViewObject } from "@xo-server/inventory";

/** An object of the catalog, parsed when it is first read. */
export class FoundObject {
  readonly id: string;
  readonly type: string;
  /** Id of the pool connection. */
  readonly pool: string;
  /** The encoded object; the same buffer until the object changes. */
  readonly json: Buffer;
  #object: ViewObject | undefined;

  constructor({ id, type, pool, json }: CatalogEntry) {
    this.id = id;
    this.type = type;
    this.pool = pool;
    this.json = json;
  }

  /** As clients see it. */
  get object(): ViewObject {
    this.#object ??= JSON.parse(this.json.toString()) as ViewObject;
    return this.#object;
  }
}
