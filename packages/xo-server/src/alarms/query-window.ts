import { applyMergePatch } from "@xo-server/kit";
import { type LiveUpdate, type ViewObject } from "@xo-server/inventory";

/** The effect of an update on the window. */
interface WindowChange {
  /** Added or changed objects. */
  readonly set: readonly ViewObject[];
  /** Ids of objects that left the window. */
  readonly removed: readonly string[];
}

/**
 * The objects in the window of a live query, kept up to date by its updates.
 */
export class QueryWindow {
  #ids: string[] = [];
  readonly #objects = new Map<string, ViewObject>();
  total = 0;

  apply(update: LiveUpdate): WindowChange {
    const set: ViewObject[] = [];
    const put = (id: string, object: ViewObject) => {
      this.#objects.set(id, object);
      set.push(object);
    };
    this.total = update.total;
    const removed = this.#splice(update.splice);
    for (const [id, json] of update.objects)
      put(id, { ...(JSON.parse(json.toString()) as ViewObject), id });
    for (const [id, patch] of update.patches) {
      const before = this.#objects.get(id);
      put(id, applyMergePatch(before, JSON.parse(patch.toString())) as never);
    }
    return { set, removed };
  }

  /** @returns ids that left the window */
  #splice(splice: LiveUpdate["splice"]): string[] {
    if (splice === undefined) return [];
    const { at, remove, insert } = splice;
    const taken = this.#ids.splice(at, remove, ...insert);
    const stays = new Set(insert);
    const removed = taken.filter((id) => !stays.has(id));
    for (const id of removed) this.#objects.delete(id);
    return removed;
  }
}
