import { setFlagsFromString } from "node:v8";

/** How much the heap may grow between two full collections while pools are loaded, in percent. */
const LOADING_PERCENT = 400;
/** The same afterwards. V8's default collects six times as often (docs/decisions/054), and needs no less memory. */
const USUAL_PERCENT = 100;

/** For programs that load pools and end, such as benchmarks. Call it before much is loaded. */
export function raiseHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${LOADING_PERCENT}`);
}

/**
 * Lets the heap grow more between two full garbage collections while pools are loaded.
 * The server has a small heap and hundreds of megabytes of buffers; V8 counts the
 * buffers and collected a 9 MB heap ten times while a pool of 130 MB was loaded, which
 * was the longest block of the event loop and a tenth of the CPU time.
 *
 * Afterwards it grows less. Otherwise V8 collects only when 64 MiB of buffers have
 * become garbage: most of them are in the arenas of malloc, which stay as large as the
 * most garbage that there ever was (docs/decisions/054).
 */
export class HeapGrowth {
  readonly #setFlags: (flags: string) => void;
  #isAllowed = false;
  #isLoading = false;

  /** @param setFlags sets flags of V8 */
  constructor(setFlags = setFlagsFromString) {
    this.#setFlags = setFlags;
  }

  /**
   * To be called when the threads are up: Node.js rejects its own compiled code while a
   * flag of V8 is set, and a thread takes 45 ms of CPU more to start.
   */
  allow(): void {
    if (this.#isAllowed) return;
    this.#isAllowed = true;
    this.#apply();
  }

  /** @param isLoading whether pools are being loaded */
  setLoading(isLoading: boolean): void {
    if (isLoading === this.#isLoading) return;
    this.#isLoading = isLoading;
    if (this.#isAllowed) this.#apply();
  }

  #apply(): void {
    const percent = this.#isLoading ? LOADING_PERCENT : USUAL_PERCENT;
    this.#setFlags(`--heap-growing-percent=${percent}`);
  }
}
