import type { MonotonicClock } from "@xo-server/kit";

export interface LatestView<Q, A> {
  /** The last response with its request; retained until the next response. */
  readonly answer: A | undefined;
  readonly question: Q | undefined;
  /** The question has changed since, or the connection is lost. */
  readonly isStale: boolean;
  /** Why the current question has no answer. */
  readonly failure: unknown;
}

interface LatestAnswerOptions<Q, A> {
  readonly request: (question: Q) => Promise<A>;
  readonly onView: (view: LatestView<Q, A>) => void;
  readonly clock: MonotonicClock;
  /** Delay in ms before a question is sent; a newer one replaces it. */
  readonly debounceMs: number;
}

/**
 * Answers to questions that change faster than they are answered: one call at a
 * time, the latest question next; the last answer stays until then.
 */
export class LatestAnswer<Q, A> {
  readonly #options: LatestAnswerOptions<Q, A>;
  #view: LatestView<Q, A> = {
    answer: undefined,
    question: undefined,
    isStale: false,
    failure: undefined,
  };
  #question: Q | undefined;
  #timer: unknown;
  #isBusy = false;
  /** Number of changes of the question. */
  #generation = 0;

  constructor(options: LatestAnswerOptions<Q, A>) {
    this.#options = options;
  }

  /** @param question undefined: none; the last answer is removed */
  want(question: Q | undefined): void {
    this.#question = question;
    this.#generation++;
    if (question === undefined) {
      this.#clearTimer();
      const nothing = { answer: undefined, question: undefined };
      this.#update({ ...nothing, isStale: false, failure: undefined });
      return;
    }
    this.#update({ isStale: this.#view.answer !== undefined });
    this.#soon(this.#options.debounceMs);
  }

  /** Sends the same question again: after a reconnection, or when its data changed. */
  again(): void {
    if (this.#question === undefined) return;
    this.#generation++;
    this.#soon(0);
  }

  close(): void {
    this.#question = undefined;
    this.#generation++;
    this.#clearTimer();
  }

  #soon(ms: number): void {
    this.#clearTimer();
    // A call is under way; the next one follows it.
    if (this.#isBusy) return;
    this.#timer = this.#options.clock.setTimeout(
      () => void this.#request(),
      ms,
    );
  }

  #clearTimer(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #request(): Promise<void> {
    const question = this.#question;
    if (question === undefined || this.#isBusy) return;
    const generation = this.#generation;
    this.#isBusy = true;
    try {
      const answer = await this.#options.request(question);
      if (this.#question !== undefined)
        this.#update({
          answer,
          question,
          failure: undefined,
          isStale: generation !== this.#generation,
        });
    } catch (failure) {
      if (generation === this.#generation)
        this.#update({ failure, isStale: this.#view.answer !== undefined });
    }
    this.#isBusy = false;
    if (generation !== this.#generation) this.#soon(0);
  }

  #update(changes: Partial<LatestView<Q, A>>): void {
    this.#view = { ...this.#view, ...changes };
    this.#options.onView(this.#view);
  }
}
