import type { Result } from "./result.js";
import type { Window } from "./window.js";
import type { SlicedTask } from "./sliced-task.js";

/** Unread results follow changes only now and then: they are there in case somebody comes back. */
const MAX_EPOCHS_BEHIND = 32;

/** A result, who uses it, and the windows on it. It is given up when nobody waits for it any more. */
export class SharedResult {
  readonly result: Result;
  /** False: it was given up. Rejects when building failed. */
  readonly ready: Promise<boolean>;
  readonly windows = new Map<string, Window>();
  users = 0;
  isReady = false;
  isClosed = false;

  /** @param run in slices */
  constructor(
    result: Result,
    run: (steps: Generator<void, void, void>) => Promise<void>,
  ) {
    this.result = result;
    this.ready = run(this.#build()).then(() => this.isReady);
  }

  /** Brings the result and its windows up to date, and tells those who look through them. */
  *update(): SlicedTask<void> {
    const { result } = this;
    const behind = result.columns.log.closed - result.seen;
    if (!this.isReady || (this.users === 0 && behind < MAX_EPOCHS_BEHIND))
      return;
    yield* result.catchUp();
    for (const window of [...this.windows.values()]) {
      yield* window.update();
      if (this.isClosed) return;
    }
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.result.close();
  }

  *#build(): Generator<void, void, void> {
    try {
      const isBuilt = yield* this.result.build(() => this.isClosed);
      this.isReady = isBuilt && !this.isClosed;
    } finally {
      if (!this.isReady) this.close();
      // What was taken while it was being closed.
      if (this.isClosed) this.result.close();
    }
  }
}
