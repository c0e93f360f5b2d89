import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { checkLocking, type LockingSettings } from "./limits/locking-rights.js";
import type { HandlerContext } from "../operations/operation.js";
import type { Action } from "../rights/actions.js";

/** Finds objects of one pool that parameters name, and checks the rights of the caller on each. */
export class PoolScope {
  /** The object whose pool all others must be in. */
  readonly anchor: PoolObject;
  readonly #objects: PoolObjects;
  readonly #rights: Pick<HandlerContext, "check">;

  constructor(
    objects: PoolObjects,
    anchor: PoolObject,
    rights: Pick<HandlerContext, "check">,
  ) {
    this.#objects = objects;
    this.anchor = anchor;
    this.#rights = rights;
  }

  /** See checkLocking. */
  checkLocking(settings: LockingSettings, network: string): void {
    checkLocking(settings, network, this.#rights);
  }

  /**
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN; INVALID_PARAMETERS: the object is in
   * another pool
   */
  use(action: Action, type: string, id: string): PoolObject {
    this.#rights.check(action, type, id);
    const found = this.#objects.get(id, type);
    const pool = found.object["$pool"];
    if (pool === this.anchor.object["$pool"]) return found;
    const reason = `${type} ${id} is in another pool`;
    throw new XoError("INVALID_PARAMETERS", { reason });
  }
}
