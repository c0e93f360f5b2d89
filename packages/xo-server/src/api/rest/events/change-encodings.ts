import type { ViewChange, ViewObject } from "@xo-server/inventory";

/** Encoded events and decoded objects of changes: each is computed once for all subscriptions. */
export class ChangeEncodings {
  readonly #events = new WeakMap<ViewChange, Map<string, Buffer>>();
  readonly #objects = new WeakMap<ViewChange, ViewObject>();

  /** @param variant subscriptions with the same variant send the same bytes */
  encode(change: ViewChange, variant: string, encode: () => Buffer): Buffer {
    const byVariant = this.#events.get(change) ?? new Map<string, Buffer>();
    this.#events.set(change, byVariant);
    const bytes = byVariant.get(variant) ?? encode();
    byVariant.set(variant, bytes);
    return bytes;
  }

  /** @param change not a removal */
  objectOf(change: ViewChange): ViewObject {
    const object =
      this.#objects.get(change) ??
      (JSON.parse(change.json!.toString()) as ViewObject);
    this.#objects.set(change, object);
    return object;
  }
}
