import type { Result } from "./result.js";
import type { Window } from "./window.js";
import type { SlicedTask } from "./sliced-task.js";

/** Number of frames after which an unused result is updated: it is kept for a further use. */
const MAX_FRAMES_BEHIND = 32;

/**
 * A result with its users and windows. Building is cancelled when it has no
 * more users.
 */
export class SharedResult {
  readonly result: Result;
  /** Resolves to false when building was cancelled; rejects when it failed. */
  readonly ready: Promise<boolean>;
  readonly windows = new Map<string, Window>();
  users = 0;
  isReady = false;
  isClosed = false;

  /** @param run runs steps in slices */
  constructor(
    result: Result,
    run: (steps: Generator<void, void, void>) => Promise<void>,
  ) {
    this.result = result;
    this.ready = run(this.#build()).then(() => this.isReady);
  }

  /** Updates the result and its windows and notifies their subscribers. */
  *update(): SlicedTask<void> {
    const { result } = this;
    const behind = result.columns.log.closed - result.seen;
    if (!this.isReady || (this.users === 0 && behind < MAX_FRAMES_BEHIND))
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
      // Releases columns acquired after it was closed.
      if (this.isClosed) this.result.close();
    }
  }
}
