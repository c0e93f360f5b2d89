interface Known {
  readonly since: number;
  readonly answer: Promise<object>;
}

/** Time for which answers are reused, in ms. */
const FRESH_MS = 5_000;

/** A cache that reuses answers for 5 s. */
export function createDashboardCache(
  clock: Pick<WallClock, "now">,
): AnswerCache {
  return new AnswerCache(clock, FRESH_MS);
}

/** Caches answers for a few seconds, per set of rights. */
export class AnswerCache {
  readonly #clock: Pick<WallClock, "now">;
  readonly #freshMs: number;
  readonly #cache = new WeakMap<object, Map<string, Known>>();

  constructor(clock: Pick<WallClock, "now">, freshMs: number) {
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  /** @param owner key of the cache; entries are released with it */
  get(
    owner: object,
    key: string,
    make: () => Promise<object>,
  ): Promise<object> {
    const answers = this.#answersOf(owner);
    const known = answers.get(key);
    if (known !== undefined) return known.answer;
    const created: Known = { since: this.#clock.now(), answer: make() };
    answers.set(key, created);
    created.answer.catch(() => {
      if (answers.get(key) === created) answers.delete(key);
    });
    return created.answer;
  }

  #answersOf(owner: object): Map<string, Known> {
    const answers = this.#cache.get(owner) ?? new Map<string, Known>();
    this.#cache.set(owner, answers);
    const now = this.#clock.now();
    for (const [key, { since }] of answers)
      if (now - since >= this.#freshMs) answers.delete(key);
    return answers;
  }
}
import type { WallClock } from "@xo-server/kit";
