import type { MonotonicClock } from "@xo-server/kit";

export interface LatestView<Q, A> {
  /** The last one that came, and to what; kept while the next is being made. */
  readonly answer: A | undefined;
  readonly question: Q | undefined;
  /** Something else is wanted by now, or the server is gone. */
  readonly isStale: boolean;
  /** Why what is wanted has no answer. */
  readonly failure: unknown;
}

export interface LatestAnswerOptions<Q, A> {
  readonly ask: (question: Q) => Promise<A>;
  readonly onView: (view: LatestView<Q, A>) => void;
  readonly clock: MonotonicClock;
  /** A question waits for so long whether another comes. */
  readonly calmMs: number;
}

/**
 * Answers to questions that change faster than they are answered: one is asked
 * at a time, the last one that was wanted is the next, and what has come stays
 * until then.
 */
export class LatestAnswer<Q, A> {
  readonly #options: LatestAnswerOptions<Q, A>;
  #view: LatestView<Q, A> = {
    answer: undefined,
    question: undefined,
    isStale: false,
    failure: undefined,
  };
  #wanted: Q | undefined;
  #timer: unknown;
  #isBusy = false;
  /** Counts what was wanted. */
  #epoch = 0;

  constructor(options: LatestAnswerOptions<Q, A>) {
    this.#options = options;
  }

  /** @param question undefined: none; what was told goes */
  want(question: Q | undefined): void {
    this.#wanted = question;
    this.#epoch++;
    if (question === undefined) {
      this.#clearTimer();
      const nothing = { answer: undefined, question: undefined };
      this.#tell({ ...nothing, isStale: false, failure: undefined });
      return;
    }
    this.#tell({ isStale: this.#view.answer !== undefined });
    this.#soon(this.#options.calmMs);
  }

  /** The same question anew, now: the server is back, or what it is about has changed. */
  again(): void {
    if (this.#wanted === undefined) return;
    this.#epoch++;
    this.#soon(0);
  }

  close(): void {
    this.#wanted = undefined;
    this.#epoch++;
    this.#clearTimer();
  }

  #soon(ms: number): void {
    this.#clearTimer();
    // Who is busy asks again afterwards.
    if (this.#isBusy) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#ask(), ms);
  }

  #clearTimer(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const question = this.#wanted;
    if (question === undefined || this.#isBusy) return;
    const epoch = this.#epoch;
    this.#isBusy = true;
    try {
      const answer = await this.#options.ask(question);
      if (this.#wanted !== undefined)
        this.#tell({
          answer,
          question,
          failure: undefined,
          isStale: epoch !== this.#epoch,
        });
    } catch (failure) {
      if (epoch === this.#epoch)
        this.#tell({ failure, isStale: this.#view.answer !== undefined });
    }
    this.#isBusy = false;
    if (epoch !== this.#epoch) this.#soon(0);
  }

  #tell(news: Partial<LatestView<Q, A>>): void {
    this.#view = { ...this.#view, ...news };
    this.#options.onView(this.#view);
  }
}
