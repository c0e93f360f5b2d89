import { monotonicClock, type MonotonicClock } from "@xo-server/kit";
import type { Answer, ConsoleSummary, Refusal } from "./summary.js";

/**
 * ```
 *            ready             opened            ended
 *   asking --------> opening ---------> open ------------+
 *     |  ^              | ended                           v
 *     |  +--------------|------------ over, retryNow -- waiting
 *     |                 +--------------------------------^ ^
 *     | gone --------------------------------------------+
 *     | refused
 *     +----------> refused --- over, retryNow ---> (asked again)
 * ```
 * `retryAt` is in the clock's milliseconds; undefined: it is being tried now, or only when told to.
 */
export type LinkState =
  | { readonly name: "asking" }
  | { readonly name: "opening"; readonly summary: ConsoleSummary }
  | { readonly name: "open"; readonly summary: ConsoleSummary }
  | {
      readonly name: "refused";
      readonly refusal: Refusal;
      readonly retryAt: number | undefined;
    }
  | {
      readonly name: "waiting";
      readonly why: "gone" | "unopened" | "ended";
      readonly retryAt: number | undefined;
    };

export interface ConsoleLinkOptions {
  readonly ask: () => Promise<Answer>;
  readonly onState: (state: LinkState) => void;
  readonly clock?: MonotonicClock;
}

/** Between tries; each pause is twice the one before. */
const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;

/** What may be otherwise in a moment is asked again so often; what somebody must change is not. */
const AGAIN_MS: Readonly<Record<string, number>> = {
  VM_BAD_POWER_STATE: 3_000,
  NOT_CONNECTED: 5_000,
  STORE_UNAVAILABLE: 5_000,
  TOO_MANY_REQUESTS: 10_000,
};

/** One that was open for less did not really work. */
const WORKED_MS = 5_000;

/** The way of a page to its console: asks, opens, and begins anew when it ends, until it is stopped. */
export class ConsoleLink {
  readonly #options: ConsoleLinkOptions;
  readonly #clock: MonotonicClock;
  #state: LinkState = { name: "asking" };
  /** Counts questions, so that the answer to an old one is not taken for the new one's. */
  #epoch = 0;
  #attempt = 0;
  #openedAt = 0;
  #timer: unknown;

  constructor(options: ConsoleLinkOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
  }

  /** Begins, or begins anew: with another kind, or as somebody else. */
  start(): void {
    this.#tell({ name: "asking" });
    void this.#ask();
  }

  retryNow(): void {
    const { name } = this.#state;
    if (name === "refused" || name === "waiting") void this.#ask();
  }

  stop(): void {
    this.#epoch++;
    this.#clock.clearTimeout(this.#timer);
  }

  /** The socket is there. */
  opened(): void {
    if (this.#state.name !== "opening") return;
    this.#openedAt = this.#clock.now();
    this.#tell({ name: "open", summary: this.#state.summary });
  }

  /** The socket is not there any more, or could not be opened. */
  ended(): void {
    const { name } = this.#state;
    if (name !== "opening" && name !== "open") return;
    const didWork =
      name === "open" && this.#clock.now() - this.#openedAt >= WORKED_MS;
    if (didWork) this.#attempt = 0;
    this.#wait(name === "open" ? "ended" : "unopened");
  }

  async #ask(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    const epoch = ++this.#epoch;
    // What is shown stays until there is something else to show.
    if ("retryAt" in this.#state)
      this.#tell({ ...this.#state, retryAt: undefined });
    const answer = await this.#options.ask();
    if (epoch !== this.#epoch) return;
    if (answer.kind === "gone") this.#wait("gone");
    else if (answer.kind === "refused") this.#refuse(answer.refusal);
    else this.#tell({ name: "opening", summary: answer.summary });
  }

  #refuse(refusal: Refusal): void {
    this.#attempt = 0;
    const ms = Object.hasOwn(AGAIN_MS, refusal.code)
      ? AGAIN_MS[refusal.code]
      : undefined;
    const retryAt = ms === undefined ? undefined : this.#clock.now() + ms;
    this.#tell({ name: "refused", refusal, retryAt });
    if (ms !== undefined) this.#askIn(ms);
  }

  #wait(why: "gone" | "unopened" | "ended"): void {
    const ms = Math.min(FIRST_MS * 2 ** this.#attempt++, LONGEST_MS);
    this.#tell({ name: "waiting", why, retryAt: this.#clock.now() + ms });
    this.#askIn(ms);
  }

  #askIn(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      void this.#ask();
    }, ms);
  }

  #tell(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
