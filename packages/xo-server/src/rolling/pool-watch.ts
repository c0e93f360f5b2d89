import { XoError } from "@xo-server/model";
import { pause } from "../tasks/pause.js";
import { withSignal } from "../tasks/with-signal.js";
import type { RollingParts } from "./rolling-parts.js";

const POLL_MS = 5_000;
/** Longer than the reboot of a coordinator takes. */
const ABSENCE_TIMEOUT_MS = 45 * 60_000;

/**
 * Ends a run whose pool does not answer any more: otherwise its XAPI tasks would be
 * awaited forever.
 */
export class PoolWatch {
  readonly #end = new AbortController();
  readonly #lost = new AbortController();

  /** Parts whose signal is also aborted when the pool has not answered for too long. */
  parts(parts: RollingParts): RollingParts {
    const work = withSignal(parts.work, this.#lost.signal);
    const { signal } = work;
    return { ...parts, work, signal, objects: parts.objects.forTask(work) };
  }

  /**
   * @returns UNREACHABLE instead of the error of a call that was aborted because
   * the pool did not answer
   */
  causeOf(error: Error): Error {
    const { signal } = this.#lost;
    return signal.aborted ? (signal.reason as Error) : error;
  }

  /**
   * Watches the pool. Resolves after `end`, and when another server has taken over. Never rejects.
   * @param isIdle whether no step is being executed
   */
  async run(
    pool: string,
    { objects, clock, work }: Pick<RollingParts, "objects" | "clock" | "work">,
    isIdle: () => boolean,
  ): Promise<void> {
    const { lease } = work;
    const ends = [this.#end.signal, ...(lease ? [lease.signal] : [])];
    const signal = AbortSignal.any(ends);
    let since = clock.now();
    for (;;) {
      await pause(clock, POLL_MS, signal);
      if (signal.aborted) return;
      if (isIdle() || isConnected(pool, objects)) since = clock.now();
      else if (clock.now() - since >= ABSENCE_TIMEOUT_MS) {
        const reason = `it has not answered for ${ABSENCE_TIMEOUT_MS / 60_000} minutes`;
        const address = `the pool ${pool}`;
        this.#lost.abort(new XoError("UNREACHABLE", { address, reason }));
        return;
      }
    }
  }

  end(): void {
    this.#end.abort();
  }
}

function isConnected(
  pool: string,
  objects: Pick<RollingParts["objects"], "get">,
): boolean {
  try {
    return objects.get(pool, "pool").xapi.state.name === "connected";
  } catch {
    // The connection of the pool is being created, or was removed.
    return false;
  }
}
