import { applyMergePatch } from "@xo-server/kit";
import { type LiveUpdate, type ViewObject } from "@xo-server/inventory";

/** What an update did to a window. */
export interface WindowChange {
  /** New, or other than before. */
  readonly set: readonly ViewObject[];
  /** Ids of those that are not in it any more. */
  readonly gone: readonly string[];
}

/** The objects of a live query's window, as its updates tell them. */
export class LiveWindow {
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
    const gone = this.#splice(update.splice);
    for (const [id, json] of update.objects)
      put(id, { ...(JSON.parse(json.toString()) as ViewObject), id });
    for (const [id, patch] of update.patches) {
      const before = this.#objects.get(id);
      put(id, applyMergePatch(before, JSON.parse(patch.toString())) as never);
    }
    return { set, gone };
  }

  /** @returns those that have left */
  #splice(splice: LiveUpdate["splice"]): string[] {
    if (splice === undefined) return [];
    const { at, remove, insert } = splice;
    const removed = this.#ids.splice(at, remove, ...insert);
    const stays = new Set(insert);
    const gone = removed.filter((id) => !stays.has(id));
    for (const id of gone) this.#objects.delete(id);
    return gone;
  }
}
