import type { WallClock } from "@xo-server/kit";

const CHECK_MS = 30_000;

interface LostServersParts {
  /** Names of the running servers. */
  readonly running: () => readonly string[];
  /** Called when one of them does not run any more; repeated at the next check if it rejects. */
  readonly onLost: () => Promise<void>;
  readonly clock: WallClock;
}

/** Finds out which servers do not run any more: only a server itself evaluates its disk, memory and certificate. */
export class LostServers {
  readonly #parts: LostServersParts;
  #known: readonly string[] = [];
  #timer: unknown;
  #isStopped = false;

  constructor(parts: LostServersParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#known = this.#parts.running();
    this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.setTimeout(
      () => void this.#check(),
      CHECK_MS,
    );
  }

  async #check(): Promise<void> {
    const { running, onLost } = this.#parts;
    const now = running();
    try {
      if (this.#known.some((name) => !now.includes(name))) await onLost();
      this.#known = now;
    } catch {
      // The database is unavailable, which it reports itself.
    }
    this.#wait();
  }
}
