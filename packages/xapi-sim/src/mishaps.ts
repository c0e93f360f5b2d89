/** What is to go wrong, or take long, with calls that are still to come. */
export interface Mishap {
  /** `VM.start` (its Async form as well); of HTTP handlers `http/put_import`, the name in datamodel's httpActions. */
  readonly method: string;
  /** XAPI's error code. Absent: the call succeeds, only later. */
  readonly error?: string;
  readonly params?: readonly string[];
  /** Milliseconds more than usual, before anything else. */
  readonly delayMs?: number;
  /**
   * `start` (default): instead of any effect. `work`: preconditions are looked at
   * first, the object shows the operation, and it fails in the middle of the work;
   * what does no work that takes time fails at the start.
   */
  readonly when?: "start" | "work";
  /** Only calls whose first parameter is this reference; default: all. */
  readonly object?: string;
  /** How many calls; default one. */
  readonly times?: number;
}

/** Where a mishap is not said in full. */
export type MishapConditions = Pick<
  Mishap,
  "delayMs" | "when" | "object" | "times"
>;

/** The mishaps that wait for their calls; the oldest that fits strikes. */
export class Mishaps {
  #waiting: Mishap[] = [];

  add(mishap: Mishap): void {
    this.#waiting.push(mishap);
  }

  list(): readonly Mishap[] {
    return this.#waiting;
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The mishap that this call meets; counts it. @param object the call's first parameter */
  strike(method: string, object: unknown): Mishap | undefined {
    if (this.#waiting.length === 0) return undefined;
    const index = this.#waiting.findIndex(
      (mishap) =>
        mishap.method === method &&
        (mishap.object === undefined || mishap.object === object),
    );
    const mishap = this.#waiting[index];
    if (mishap === undefined) return undefined;
    const times = (mishap.times ?? 1) - 1;
    this.#waiting.splice(
      index,
      1,
      ...(times > 0 ? [{ ...mishap, times }] : []),
    );
    return mishap;
  }
}
