import type { Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import { isUuid } from "../objects/uuid.js";
import { namedIds } from "./named-ids.js";

interface StoredByOthersOptions {
  readonly store: Pick<Store, "catchUp" | "knows">;
  readonly objects: Pick<PoolObjects, "connectionOf">;
}

/**
 * What another server has just stored is known here within a second. An id that is unknown
 * is looked for in the database first; at most ten times a second, see Store.catchUp.
 */
export class StoredByOthers {
  readonly #options: StoredByOthersOptions;

  constructor(options: StoredByOthersOptions) {
    this.#options = options;
  }

  /** For a call that changes nothing: carries it out again if an object is unknown. */
  async read(call: () => Promise<unknown>): Promise<unknown> {
    try {
      return await call();
    } catch (error) {
      if (!isNoSuchObject(error)) throw error;
      await this.catchUp();
      return call();
    }
  }

  /** Whether a call names an object that is unknown here. One that changes something must not be carried out twice. @param params not checked */
  isUnknown(params: unknown): boolean {
    const { store, objects } = this.#options;
    return namedIds(params).some(
      (id) =>
        isUuid(id) &&
        !store.knows(id) &&
        objects.connectionOf(id) === undefined,
    );
  }

  catchUp(): Promise<void> {
    return this.#options.store.catchUp();
  }
}
