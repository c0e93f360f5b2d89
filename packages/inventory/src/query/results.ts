import { XoError } from "@xo-server/model";
import type { Clock } from "@xo-server/xen-api";
import type { ClassIndex } from "./class-index.js";
import type { ColumnBudget } from "./column-budget.js";
import type { Question } from "./request.js";
import { Result } from "./result.js";
import { SharedResult } from "./shared-result.js";

export interface ResultsOptions {
  readonly clock: Clock;
  readonly budget: ColumnBudget;
  /** Results that are kept up to date, at most. */
  readonly most: number;
  /** How long a result stays when nobody uses it. */
  readonly lingerMs: number;
}

interface Lingering {
  readonly timer: unknown;
  readonly drop: () => void;
}

/** The use of a result. Given back before the result is ready, the work for it ends, unless others wait for it as well. */
export interface Lease {
  readonly shared: SharedResult;
  readonly index: ClassIndex;
  release(): void;
}

/** Results by their questions: the same question is answered once, and the answer kept up to date. */
export class Results {
  readonly #options: ResultsOptions;
  /** Nobody uses them; the one that was left first goes first. */
  readonly #lingering = new Map<SharedResult, Lingering>();
  #kept = 0;

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  /** Number of results that are kept. */
  get count(): number {
    return this.#kept;
  }

  /**
   * To be given back. Where there is no room, a result is made for this use alone;
   * `kept`: it has to stay up to date, so that room is needed.
   * @throws XoError TOO_MANY_REQUESTS when `kept` and there is none
   */
  take(index: ClassIndex, question: Question, use: "kept" | "once"): Lease {
    const known = index.results.get(question.key);
    const shared = known ?? this.#make(index, question, use);
    shared.users++;
    this.#stopLingering(shared);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(index, shared);
    };
    return { shared, index, release };
  }

  stop(): void {
    for (const shared of [...this.#lingering.keys()])
      this.#stopLingering(shared);
  }

  #make(
    index: ClassIndex,
    question: Question,
    use: "kept" | "once",
  ): SharedResult {
    const hasRoom = this.#makeRoom();
    if (!hasRoom && use === "kept")
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `${this.#options.most} different live queries are kept already`,
      });
    const shared = new SharedResult(
      new Result(index.columns, question),
      (steps) => index.table.run(steps),
    );
    // Who waits for it hears of a failure; nobody may be waiting any more.
    shared.ready.catch(() => {
      this.#drop(index, shared);
    });
    if (hasRoom) {
      index.results.set(question.key, shared);
      this.#kept++;
    }
    return shared;
  }

  #makeRoom(): boolean {
    if (this.#kept < this.#options.most) return true;
    const [oldest] = this.#lingering.values();
    oldest?.drop();
    return oldest !== undefined;
  }

  #release(index: ClassIndex, shared: SharedResult): void {
    if (--shared.users > 0) return;
    const isKept = this.#isKept(index, shared);
    if (!shared.isReady || !isKept || this.#options.lingerMs === 0) {
      this.#drop(index, shared);
      return;
    }
    const drop = () => {
      this.#drop(index, shared);
    };
    const timer = this.#options.clock.setTimeout(drop, this.#options.lingerMs);
    this.#lingering.set(shared, { timer, drop });
  }

  #drop(index: ClassIndex, shared: SharedResult): void {
    this.#stopLingering(shared);
    if (this.#isKept(index, shared)) {
      index.results.delete(shared.result.question.key);
      this.#kept--;
    }
    shared.close();
    this.#options.budget.enforce();
  }

  #isKept(index: ClassIndex, { result }: SharedResult): boolean {
    return index.results.get(result.question.key)?.result === result;
  }

  #stopLingering(shared: SharedResult): void {
    const lingering = this.#lingering.get(shared);
    if (lingering === undefined) return;
    this.#options.clock.clearTimeout(lingering.timer);
    this.#lingering.delete(shared);
  }
}
