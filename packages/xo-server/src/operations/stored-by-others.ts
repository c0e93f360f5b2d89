import type { Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import { namedIds } from "./named-ids.js";

interface StoredByOthersOptions {
  readonly store: Pick<Store, "catchUp" | "knows">;
  readonly objects: Pick<PoolObjects, "connectionOf">;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
      await this.#options.store.catchUp();
      return call();
    }
  }

  /** Before a call that changes something, as it must not be carried out twice. @param params not checked */
  async find(params: unknown): Promise<void> {
    const { store, objects } = this.#options;
    const isUnknown = (id: string): boolean =>
      UUID.test(id) &&
      !store.knows(id) &&
      objects.connectionOf(id) === undefined;
    if (namedIds(params).some(isUnknown)) await store.catchUp();
  }
}
