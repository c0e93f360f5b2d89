/** What is to go wrong, or take long, with calls that are still to come. */
export interface InjectedError {
  /**
   * `VM.start` (its Async form as well); of one function of a plugin
   * `host.call_plugin/updater.py/update`; of HTTP handlers `http/put_import`, the name in datamodel's httpActions.
   */
  readonly method: string;
  /** XAPI's error code. Absent: the call succeeds, only later. */
  readonly error?: string;
  readonly params?: readonly string[];
  /** Milliseconds more than usual, before anything else. */
  readonly delayMs?: number;
  /**
   * `start` (default): instead of any effect. `work`: preconditions are checked
   * first, the object shows the operation, and it fails during the operation;
   * operations without a duration fail at the start.
   */
  readonly when?: "start" | "work";
  /** Only calls whose first parameter is this reference; default: all. */
  readonly object?: string;
  /** How many calls; default one. */
  readonly times?: number;
  /** Called when the call arrives, before anything else. */
  readonly onCall?: () => void;
}

/** Defaults of an incomplete injected error. */
export type InjectionConditions = Pick<
  InjectedError,
  "delayMs" | "when" | "object" | "times"
>;

/** Injected errors, each until its call; a call gets the oldest that matches. */
export class InjectedErrors {
  #waiting: InjectedError[] = [];

  add(injectedError: InjectedError): void {
    this.#waiting.push(injectedError);
  }

  list(): readonly InjectedError[] {
    return this.#waiting;
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The injected error that this call meets; counts it. @param object the call's first parameter */
  take(method: string, object: unknown): InjectedError | undefined {
    if (this.#waiting.length === 0) return undefined;
    const index = this.#waiting.findIndex(
      (injectedError) =>
        injectedError.method === method &&
        (injectedError.object === undefined || injectedError.object === object),
    );
    const injectedError = this.#waiting[index];
    if (injectedError === undefined) return undefined;
    const times = (injectedError.times ?? 1) - 1;
    this.#waiting.splice(
      index,
      1,
      ...(times > 0 ? [{ ...injectedError, times }] : []),
    );
    return injectedError;
  }
}
