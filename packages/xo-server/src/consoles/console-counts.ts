import { XoError } from "@xo-server/model";
import type { Config } from "../config/config.js";
import type { LimitHits, LimitName } from "../limits/limit-hits.js";

interface ConsoleCountsOptions {
  readonly limits: Pick<
    Config["consoles"],
    "maxSessions" | "maxSessionsPerUser" | "maxSessionsPerObject"
  >;
  readonly hits: Pick<LimitHits, "count">;
}

/**
 * Number of open consoles in total, by user and by object. Consoles that are being
 * opened count.
 */
export class ConsoleCounts {
  readonly #options: ConsoleCountsOptions;
  readonly #users = new Map<string, number>();
  readonly #objects = new Map<string, number>();
  #all = 0;

  constructor(options: ConsoleCountsOptions) {
    this.#options = options;
  }

  get all(): number {
    return this.#all;
  }

  /**
   * Counts a console that is being opened.
   * @returns to be called once, when the console has ended
   * @throws XoError TOO_MANY_REQUESTS
   */
  take(userId: string, objectId: string): () => void {
    const { maxSessions, maxSessionsPerUser, maxSessionsPerObject } =
      this.#options.limits;
    const mine = this.#users.get(userId) ?? 0;
    const here = this.#objects.get(objectId) ?? 0;
    if (this.#all >= maxSessions)
      throw this.#full("consoles", `${maxSessions} consoles`);
    if (mine >= maxSessionsPerUser)
      throw this.#full("consoles_of_user", `${mine} consoles of one user`);
    if (here >= maxSessionsPerObject)
      throw this.#full("consoles_of_object", `${here} consoles of ${objectId}`);
    this.#all++;
    add(this.#users, userId, 1);
    add(this.#objects, objectId, 1);
    return () => {
      this.#all--;
      add(this.#users, userId, -1);
      add(this.#objects, objectId, -1);
    };
  }

  #full(name: LimitName, what: string): XoError {
    this.#options.hits.count(name);
    const reason = `${what} are open`;
    return new XoError("TOO_MANY_REQUESTS", { reason, retryAfterMs: 10_000 });
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
