import type { TaskContext } from "../tasks/task-context.js";
import type { BulkFailure } from "./bulk-result.js";

/** What became of one of the many before the server died. */
export type ItemState =
  /** Its part may have asked a pool for something. */
  | { readonly name: "begun"; readonly part: string }
  | { readonly name: "succeeded" }
  | { readonly name: "failed"; readonly error: BulkFailure["error"] };

/** Ids that are written down together. */
const IDS_A_STEP = 1_000;

/** Keys sort as numbers do. */
const keyOf = (kind: string, index: number) =>
  `${kind}/${String(index).padStart(6, "0")}`;

/** Writes down which have begun and ended: a small row each, whatever the number of all. */
export class BulkLog {
  readonly #work: Pick<TaskContext, "persistStep" | "persistStepSoon">;

  constructor(work: Pick<TaskContext, "persistStep" | "persistStepSoon">) {
    this.#work = work;
  }

  /** Resolves when all ids are on the disk. */
  async writeIds(ids: readonly string[]): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let at = 0; at < ids.length; at += IDS_A_STEP) {
      const chunk = ids.slice(at, at + IDS_A_STEP);
      writes.push(this.#work.persistStep(keyOf("ids", at), chunk));
    }
    await Promise.all(writes);
  }

  /** Resolves when it is on the disk. */
  write(index: number, state: ItemState): Promise<void> {
    return this.#work.persistStep(keyOf("item", index), state);
  }

  /** A moment later. */
  writeSoon(index: number, state: ItemState): void {
    this.#work.persistStepSoon(keyOf("item", index), state);
  }
}

/** What a bulk of the last run was about. */
export function readBulkLog(steps: ReadonlyMap<string, unknown>): {
  readonly ids: readonly string[];
  /** By index; absent: it has not begun. */
  readonly states: ReadonlyMap<number, ItemState>;
} {
  const ids: string[] = [];
  const states = new Map<number, ItemState>();
  // They come by key.
  for (const [key, state] of steps)
    if (key.startsWith("ids/")) ids.push(...(state as string[]));
    else if (key.startsWith("item/"))
      states.set(Number(key.slice("item/".length)), state as ItemState);
  return { ids, states };
}
