import type { Task } from "@xo-server/store";

/** Maximum number of ended parts of a task that are retained. */
const MAX_ENDED = 50;

/**
 * Parts of one task: all that are running, and the last of those that have
 * ended. Failed parts are retained longer than successful ones.
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

  /** To be called when a part has ended. */
  noteEnd(part: P): void {
    this.#ended.add(part);
    if (this.#ended.size <= MAX_ENDED) return;
    const evicted = this.#oldestSuccess() ?? this.#ended.values().next().value!;
    this.#ended.delete(evicted);
    this.#parts.delete(evicted);
  }

  #oldestSuccess(): P | undefined {
    for (const part of this.#ended) if (part.status === "success") return part;
    return undefined;
  }
}
