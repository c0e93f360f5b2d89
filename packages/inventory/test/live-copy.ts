import { applyMergePatch } from "@xo-server/kit";
import {
  addDigest,
  digestOf,
  digestToText,
  EMPTY_DIGEST,
  type LiveUpdate,
} from "@xo-server/inventory";
import { canonical } from "./fake-view-table.js";

/** What a client of a live query holds: it applies updates by the rules of LiveUpdate and knows nothing else. */
export class LiveCopy {
  readonly updates: LiveUpdate[] = [];
  total = 0;
  offset = 0;
  ids: string[] = [];
  #objects = new Map<string, unknown>();

  readonly listener = (update: LiveUpdate): void => {
    this.updates.push(update);
    this.total = update.total;
    this.offset = update.offset;
    const { splice } = update;
    if (splice !== undefined)
      this.ids.splice(splice.at, splice.remove, ...splice.insert);
    for (const [id, json] of update.objects)
      this.#objects.set(id, JSON.parse(json.toString()));
    for (const [id, patch] of update.patches) {
      if (!this.#objects.has(id)) throw new Error(`a patch of ${id}, unknown`);
      const patched = applyMergePatch(
        this.#objects.get(id),
        JSON.parse(patch.toString()),
      );
      this.#objects.set(id, patched);
    }
    // What is out of the window is not kept.
    this.#objects = new Map(this.ids.map((id) => [id, this.#objects.get(id)]));
  };

  get objects(): readonly unknown[] {
    return this.ids.map((id) => this.#objects.get(id));
  }

  /** Of the copy, as the last update says it should be. */
  get digest(): string {
    let sum = EMPTY_DIGEST;
    for (const object of this.objects)
      sum = addDigest(sum, digestOf(Buffer.from(canonical(object))));
    return digestToText(sum);
  }

  get last(): LiveUpdate {
    return this.updates[this.updates.length - 1]!;
  }
}
