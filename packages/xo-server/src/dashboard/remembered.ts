import type { Clock } from "../clock.js";

interface Known {
  readonly since: number;
  readonly told: Promise<object>;
}

/** Answers are reused for this time, in ms. */
const FRESH_MS = 5_000;

export function createDashboardCache(clock: Pick<Clock, "now">): Remembered {
  return new Remembered(clock, FRESH_MS);
}

/** Answers that are good for a few seconds, for all who have the same rights. */
export class Remembered {
  readonly #clock: Pick<Clock, "now">;
  readonly #freshMs: number;
  readonly #known = new WeakMap<object, Map<string, Known>>();

  constructor(clock: Pick<Clock, "now">, freshMs: number) {
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  /** @param owner whose answers they are; they go with it */
  get(
    owner: object,
    key: string,
    make: () => Promise<object>,
  ): Promise<object> {
    const answers = this.#answersOf(owner);
    const known = answers.get(key);
    if (known !== undefined) return known.told;
    const made: Known = { since: this.#clock.now(), told: make() };
    answers.set(key, made);
    made.told.catch(() => {
      if (answers.get(key) === made) answers.delete(key);
    });
    return made.told;
  }

  #answersOf(owner: object): Map<string, Known> {
    const answers = this.#known.get(owner) ?? new Map<string, Known>();
    this.#known.set(owner, answers);
    const now = this.#clock.now();
    for (const [key, { since }] of answers)
      if (now - since >= this.#freshMs) answers.delete(key);
    return answers;
  }
}
