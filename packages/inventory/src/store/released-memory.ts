/** V8 begins a full garbage collection when this many bytes of buffers were added since the last one (a constant of V8 11). */
const V8_LIMIT_BYTES = 64 * 1024 * 1024;

/** A collection takes 20 to 60 ms, in steps, for a heap of 100 MB: it should pay. */
const MIN_RELEASED_BYTES = 128 * 1024 * 1024;

/**
 * Counts shared memory that nothing refers to any more. V8 does not count it, so that it
 * would stay until a collection for another reason (docs/decisions/059).
 */
export class ReleasedMemory {
  readonly #collect: () => void;
  #bytes = 0;

  /** @param collect begins a garbage collection */
  constructor(collect = addCountedBytes) {
    this.#collect = collect;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MIN_RELEASED_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}

/**
 * A buffer of more than the limit: V8 begins to mark, in steps of a few milliseconds. Its pages
 * are never written, so that it needs address space and no memory.
 */
function addCountedBytes(): void {
  new ArrayBuffer(V8_LIMIT_BYTES + 1024 * 1024);
}
