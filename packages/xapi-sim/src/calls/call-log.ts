/** A call of an operation that takes long enough for XAPI to offer it as a task. */
export interface LoggedCall {
  /** Milliseconds since the epoch, by the clock of the pool. */
  readonly at: number;
  /** Without `Async.`. */
  readonly method: string;
  /** First parameter after the session: the object of most calls. */
  readonly object: string;
  /** Keys and values that the client has put into `other_config` of the task. */
  readonly marks: Readonly<Record<string, string>>;
}

/** Calls of operations that a pool has begun, in order: what a client has requested twice is in it twice. */
export class CallLog {
  readonly #calls: LoggedCall[] = [];

  add(call: LoggedCall): void {
    this.#calls.push(call);
    if (this.#calls.length > MAX_CALLS) this.#calls.splice(0, MAX_CALLS / 2);
  }

  list(): readonly LoggedCall[] {
    return this.#calls;
  }
}

/** The older half is dropped beyond. */
const MAX_CALLS = 20_000;
