import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObjects } from "../objects/pool-objects.js";

interface Step {
  /** Name of the object. */
  readonly what: string;
  readonly undo: (xapi: Xapi) => Promise<unknown>;
}

interface FailedStep extends Step {
  readonly error: unknown;
}

/** Steps that undo what an operation has created, if the operation fails. */
export class Rollback {
  readonly #steps: Step[] = [];

  /** @param what name of the object in errors, if it cannot be deleted */
  add(what: string, undo: Step["undo"]): void {
    this.#steps.push({ what, undo });
  }

  /**
   * Deletes in the order of creation, because destroying a VM also destroys its
   * disks. What cannot be deleted is tried again at the end: a later step may have
   * deleted it, or what used it.
   * @returns names of what could not be deleted
   */
  async run(xapi: Xapi): Promise<string[]> {
    const failed = await runAll(this.#steps, xapi);
    // Of these the object itself is gone: another attempt would not name its parts.
    const partly = failed.filter(({ error }) => isLeftBehind(error));
    const again = failed.filter(({ error }) => !isLeftBehind(error));
    // Nothing has changed since the last step failed.
    const isLastAlone = again[0]?.undo === this.#steps.at(-1)?.undo;
    const left = isLastAlone ? again : await runAll(again, xapi);
    return [...partly, ...left].flatMap(({ what, error }) =>
      isLeftBehind(error) ? this.#partsOf(error) : [what],
    );
  }

  /** Parts of an object that could not be deleted with it, unless all of them have steps of their own. */
  #partsOf(error: XoError): string[] {
    const left = String(error.data["left"]);
    const refs = left.match(/OpaqueRef:[\w-]+/g) ?? [];
    const haveSteps =
      refs.length > 0 &&
      refs.every((ref) => this.#steps.some(({ what }) => what.endsWith(ref)));
    return haveSteps ? [] : [left];
  }
}

/** @returns the steps that failed, unless their object is gone */
async function runAll(
  steps: readonly Step[],
  xapi: Xapi,
): Promise<FailedStep[]> {
  const failed: FailedStep[] = [];
  for (const step of steps)
    try {
      await step.undo(xapi);
    } catch (error) {
      if (!isHandleInvalid(error)) failed.push({ ...step, error });
    }
  return failed;
}

/**
 * Runs code; if it fails, deletes everything that it has created.
 * @param cleanupXapi the pool, for calls that are not cancelled with the task, see
 * untrackedXapi
 * @throws the error of the code; XoError LEFT_BEHIND if something could not be
 * deleted
 */
export async function withRollback<T>(
  cleanupXapi: Xapi,
  work: (rollback: Rollback) => Promise<T>,
): Promise<T> {
  const rollback = new Rollback();
  try {
    return await work(rollback);
  } catch (error) {
    const left = await rollback.run(cleanupXapi);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : "it failed";
    const data = { reason, left: left.join(", ") };
    throw new XoError("LEFT_BEHIND", data, error);
  }
}

/** Whether only parts of an object could not be deleted. */
function isLeftBehind(error: unknown): error is XoError {
  return error instanceof XoError && error.code === "LEFT_BEHIND";
}

/**
 * The pool of an object, for calls that are not cancelled with the task of the
 * caller, so that cleanup is always done.
 */
export function untrackedXapi(objects: PoolObjects, id: string): Xapi {
  return objects.untracked.get(id).xapi;
}

/** Whether XAPI has no such object: it was deleted. */
export function isHandleInvalid(error: unknown): boolean {
  return error instanceof XapiError && error.code === "HANDLE_INVALID";
}

/**
 * Waits for a deletion; an object that no longer exists counts as deleted.
 * @throws XapiError
 */
export async function ignoreInvalidHandle(
  deletion: Promise<unknown>,
): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isHandleInvalid(error)) throw error;
  }
}
