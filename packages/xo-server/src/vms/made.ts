import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../objects/pool-objects.js";

type Undo = (xapi: Xapi) => Promise<unknown>;

/** What has been made on the way, so that a failure leaves nothing half-made behind. */
export class Made {
  readonly #undo: [what: string, undo: Undo][] = [];

  /** @param what it is called if it cannot be removed */
  add(what: string, undo: Undo): void {
    this.#undo.push([what, undo]);
  }

  /**
   * What was made first is removed first: a VM takes its disks with it, and can only be halted as a whole.
   * @returns what is still there
   */
  async takeBack(xapi: Xapi): Promise<string[]> {
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
 * Does the work; where it fails, what it has made goes away again.
 * @param cleaner the pool, on connections that the work's cancellation does not reach: see untrackedXapi
 * @throws the work's error; XoError LEFT_BEHIND where something could not be removed
 */
export async function allOrNothing<T>(
  cleaner: Xapi,
  work: (made: Made) => Promise<T>,
): Promise<T> {
  const made = new Made();
  try {
    return await work(made);
  } catch (error) {
    const left = await made.takeBack(cleaner);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : "it failed";
    const told = { reason, left: left.join(", ") };
    throw new XoError("LEFT_BEHIND", told, error);
  }
}

/** It may be gone but for a part. */
function nameLeft(what: string, error: unknown): string {
  const isPart = error instanceof XoError && error.code === "LEFT_BEHIND";
  return isPart ? String(error.data["left"]) : what;
}

/** The pool of an object, for cleaning up: it must be done even if the task of the caller is cancelled. */
export function untrackedXapi(objects: PoolObjects, id: string): Xapi {
  return objects.untracked.get(id).xapi;
}

/** Somebody, or XAPI itself, has removed it. */
export function isGone(error: unknown): boolean {
  return error instanceof XapiError && error.code === "HANDLE_INVALID";
}
