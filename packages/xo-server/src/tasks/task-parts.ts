import type { Task } from "@xo-server/store";

/** Parts that have ended and are kept, of one task. */
const MOST_ENDED = 50;

/**
 * Parts of one task: all that are under way, and of those that have ended the
 * last ones. What failed stays longer than what succeeded.
 */
export class TaskParts<P extends { readonly status: Task["status"] }> {
  readonly #parts = new Set<P>();
  readonly #ended = new Set<P>();

  [Symbol.iterator](): IterableIterator<P> {
    return this.#parts.values();
  }

  get size(): number {
    return this.#parts.size;
  }

  add(part: P): void {
    this.#parts.add(part);
    if (part.status !== "pending") this.noteEnd(part);
  }

  drop(part: P): void {
    this.#parts.delete(part);
  }

  /** One of them has ended. */
  noteEnd(part: P): void {
    this.#ended.add(part);
    if (this.#ended.size <= MOST_ENDED) return;
    const gone = this.#oldestSuccess() ?? this.#ended.values().next().value!;
    this.#ended.delete(gone);
    this.#parts.delete(gone);
  }

  #oldestSuccess(): P | undefined {
    for (const part of this.#ended) if (part.status === "success") return part;
    return undefined;
  }
}
