import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../objects/pool-objects.js";

type Undo = (xapi: Xapi) => Promise<unknown>;

/** Steps that undo what an operation has created, if the operation fails. */
export class Rollback {
  readonly #undo: [what: string, undo: Undo][] = [];

  /** @param what its name in the error, if it cannot be deleted */
  add(what: string, undo: Undo): void {
    this.#undo.push([what, undo]);
  }

  /**
   * Undoes in the order of creation: destroying a VM destroys its disks.
   * @returns what could not be deleted
   */
  async run(xapi: Xapi): Promise<string[]> {
    const left: string[] = [];
    for (const [what, undo] of this.#undo)
      try {
        await undo(xapi);
      } catch (error) {
        if (!isGone(error)) left.push(nameLeft(what, error));
      }
    return left;
  }
}

/**
 * Runs code; if it fails, deletes what it has created.
 * @param cleaner the pool, not cancelled with the task: see untrackedXapi
 * @throws the error of the code; XoError LEFT_BEHIND if something could not be
 * deleted
 */
export async function withRollback<T>(
  cleaner: Xapi,
  work: (rollback: Rollback) => Promise<T>,
): Promise<T> {
  const made = new Rollback();
  try {
    return await work(made);
  } catch (error) {
    const left = await made.run(cleaner);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : "it failed";
    const data = { reason, left: left.join(", ") };
    throw new XoError("LEFT_BEHIND", data, error);
  }
}

/** It may be deleted except for a part. */
function nameLeft(what: string, error: unknown): string {
  const isPart = error instanceof XoError && error.code === "LEFT_BEHIND";
  return isPart ? String(error.data["left"]) : what;
}

/** The pool of an object, for cleaning up: it must be done even if the task of the caller is cancelled. */
export function untrackedXapi(objects: PoolObjects, id: string): Xapi {
  return objects.untracked.get(id).xapi;
}

/** The object no longer exists in XAPI. */
export function isGone(error: unknown): boolean {
  return error instanceof XapiError && error.code === "HANDLE_INVALID";
}
