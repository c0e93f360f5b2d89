import type { TaskContext } from "../tasks/task-context.js";
import type { BulkFailure } from "./bulk-result.js";

/** State of an item when the server stopped. */
export type ItemState =
  /** The item may have sent requests to a pool. */
  | { readonly name: "begun"; readonly part: string }
  | { readonly name: "succeeded" }
  | { readonly name: "failed"; readonly error: BulkFailure["error"] };

/** Number of ids per stored row. */
const IDS_PER_STEP = 1_000;

/** Keys that sort like numbers. */
const keyOf = (kind: string, index: number) =>
  `${kind}/${String(index).padStart(6, "0")}`;

/** Stores which items have started and ended: one small row each. */
export class BulkLog {
  readonly #work: Pick<TaskContext, "persistStep" | "persistStepSoon">;

  constructor(work: Pick<TaskContext, "persistStep" | "persistStepSoon">) {
    this.#work = work;
  }

  /** Resolves when all ids are stored. */
  async writeIds(ids: readonly string[]): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let at = 0; at < ids.length; at += IDS_PER_STEP) {
      const chunk = ids.slice(at, at + IDS_PER_STEP);
      writes.push(this.#work.persistStep(keyOf("ids", at), chunk));
    }
    await Promise.all(writes);
  }

  /** Resolves when the state is stored. */
  write(index: number, state: ItemState): Promise<void> {
    return this.#work.persistStep(keyOf("item", index), state);
  }

  /** Stored with the next batch. */
  writeSoon(index: number, state: ItemState): void {
    this.#work.persistStepSoon(keyOf("item", index), state);
  }
}

/** The stored state of a bulk task of the previous process. */
export function readBulkLog(steps: ReadonlyMap<string, unknown>): {
  readonly ids: readonly string[];
  /** By index; absent: not started. */
  readonly states: ReadonlyMap<number, ItemState>;
} {
  const ids: string[] = [];
  const states = new Map<number, ItemState>();
  // Sorted by key.
  for (const [key, state] of steps)
    if (key.startsWith("ids/")) ids.push(...(state as string[]));
    else if (key.startsWith("item/"))
      states.set(Number(key.slice("item/".length)), state as ItemState);
  return { ids, states };
}
