import { monotonicClock, type MonotonicClock } from "@xo-server/kit";
import type { Answer, ConsoleSummary, Refusal } from "./summary.js";

/**
 * ```
 *            ready             opened            ended
 *   checking ------> opening ---------> open ------------+
 *     |  ^              | ended                           v
 *     |  +--------------|------------ over, retryNow -- waiting
 *     |                 +--------------------------------^ ^
 *     | gone --------------------------------------------+
 *     | refused
 *     +----------> refused --- over, retryNow ---> (checked again)
 * ```
 * `retryAt` is in the clock's milliseconds; undefined: it is being tried now, or only on request.
 */
export type LinkState =
  | { readonly name: "checking" }
  | { readonly name: "opening"; readonly summary: ConsoleSummary }
  | { readonly name: "open"; readonly summary: ConsoleSummary }
  | {
      readonly name: "refused";
      readonly refusal: Refusal;
      readonly retryAt: number | undefined;
    }
  | {
      readonly name: "waiting";
      readonly why: "gone" | "notOpened" | "ended";
      readonly retryAt: number | undefined;
    };

interface ConsoleLinkOptions {
  readonly check: () => Promise<Answer>;
  readonly onState: (state: LinkState) => void;
  readonly clock?: MonotonicClock;
}

/** Delays between attempts, in ms; each is twice the previous one. */
const FIRST_MS = 1_000;
const LONGEST_MS = 15_000;

/** Refusals that may be temporary are retried at this interval; others are not retried. */
const AGAIN_MS: Readonly<Record<string, number>> = {
  VM_BAD_POWER_STATE: 3_000,
  NOT_CONNECTED: 5_000,
  STORE_UNAVAILABLE: 5_000,
  TOO_MANY_REQUESTS: 10_000,
};

/** A connection that was open for less time counts as failed, in ms. */
const WORKED_MS = 5_000;

/** The connection of the page to a console: requests access, opens it, and reconnects until it is stopped. */
export class ConsoleLink {
  readonly #options: ConsoleLinkOptions;
  readonly #clock: MonotonicClock;
  #state: LinkState = { name: "checking" };
  /** Number of requests, to discard outdated answers. */
  #generation = 0;
  #attempt = 0;
  #openedAt = 0;
  #timer: unknown;

  constructor(options: ConsoleLinkOptions) {
    this.#options = options;
    this.#clock = options.clock ?? monotonicClock;
  }

  /** Starts or restarts: with another kind of console or another user. */
  start(): void {
    this.#update({ name: "checking" });
    void this.#check();
  }

  retryNow(): void {
    const { name } = this.#state;
    if (name === "refused" || name === "waiting") void this.#check();
  }

  stop(): void {
    this.#generation++;
    this.#clock.clearTimeout(this.#timer);
  }

  /** The socket is open. */
  opened(): void {
    if (this.#state.name !== "opening") return;
    this.#openedAt = this.#clock.now();
    this.#update({ name: "open", summary: this.#state.summary });
  }

  /** The socket was closed or could not be opened. */
  ended(): void {
    const { name } = this.#state;
    if (name !== "opening" && name !== "open") return;
    const didWork =
      name === "open" && this.#clock.now() - this.#openedAt >= WORKED_MS;
    if (didWork) this.#attempt = 0;
    this.#wait(name === "open" ? "ended" : "notOpened");
  }

  async #check(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    const generation = ++this.#generation;
    // The last state stays until the next one is known.
    if ("retryAt" in this.#state)
      this.#update({ ...this.#state, retryAt: undefined });
    const answer = await this.#options.check();
    if (generation !== this.#generation) return;
    if (answer.kind === "gone") this.#wait("gone");
    else if (answer.kind === "refused") this.#refuse(answer.refusal);
    else this.#update({ name: "opening", summary: answer.summary });
  }

  #refuse(refusal: Refusal): void {
    this.#attempt = 0;
    const ms = Object.hasOwn(AGAIN_MS, refusal.code)
      ? AGAIN_MS[refusal.code]
      : undefined;
    const retryAt = ms === undefined ? undefined : this.#clock.now() + ms;
    this.#update({ name: "refused", refusal, retryAt });
    if (ms !== undefined) this.#askIn(ms);
  }

  #wait(why: "gone" | "notOpened" | "ended"): void {
    const ms = Math.min(FIRST_MS * 2 ** this.#attempt++, LONGEST_MS);
    this.#update({ name: "waiting", why, retryAt: this.#clock.now() + ms });
    this.#askIn(ms);
  }

  #askIn(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      void this.#check();
    }, ms);
  }

  #update(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
