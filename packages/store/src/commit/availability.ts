import type { Logger, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Engine } from "../engines/engine.js";

/**
 * available --a query fails because the database is unreachable--> unavailable
 * unavailable --the probe succeeds, the cache is reloaded--> available
 */
export type AvailabilityState = "available" | "unavailable";

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

interface AvailabilityOptions {
  readonly engine: Engine;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly backoff: Backoff;
  /** 0 to 1: jitter, so that many servers do not reconnect at once. */
  readonly random: () => number;
}

/**
 * Whether the database is reachable. While it is not, queries fail immediately and one probe
 * retries with back-off.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #listeners = new Set<(state: AvailabilityState) => void>();
  #recover: () => Promise<void> = async () => undefined;
  #reason: string | undefined;
  #timer: unknown;
  #attempt = 0;
  /** Time of the last recovery, ms since the epoch. */
  #recoveredAt = -Infinity;
  /** Number of failures in a row that followed soon after a recovery: some writes succeed on a disk that is full. */
  #relapses = 0;
  #closed = false;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
  }

  get state(): AvailabilityState {
    return this.#reason === undefined ? "available" : "unavailable";
  }

  /** @param recover must succeed before the state becomes `available` again */
  onRecovery(recover: () => Promise<void>): void {
    this.#recover = recover;
  }

  onState(listener: (state: AvailabilityState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws XoError STORE_UNAVAILABLE, CLOSED */
  check(): void {
    if (this.#closed) throw new XoError("CLOSED", { what: "the store" });
    if (this.#reason !== undefined)
      throw new XoError("STORE_UNAVAILABLE", { reason: this.#reason });
  }

  /** Runs a query; an error of an unreachable database changes the state. */
  async run<T>(query: () => Promise<T>): Promise<T> {
    this.check();
    try {
      return await query();
    } catch (error) {
      throw this.translateError(error);
    }
  }

  /** The error to throw for a failure of the database. An unreachable database changes the state. */
  translateError(error: unknown): unknown {
    if (error instanceof XoError) return error;
    if (this.#closed) return new XoError("CLOSED", { what: "the store" });
    if (this.#options.engine.classify(error) !== "unavailable") return error;
    const reason = error instanceof Error ? reasonOf(error) : "unknown";
    this.#becomeUnavailable(reason);
    // Without the cause: errors of drivers contain addresses and statements.
    return new XoError("STORE_UNAVAILABLE", { reason });
  }

  close(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #becomeUnavailable(reason: string): void {
    const before = this.state;
    this.#reason = reason;
    if (before === "unavailable" || this.#closed) return;
    this.#options.logger.warn("the database is unreachable", { reason });
    this.#notify();
    const { clock, backoff } = this.#options;
    const isRelapse = clock.now() - this.#recoveredAt < backoff.maxMs;
    this.#relapses = isRelapse ? this.#relapses + 1 : 0;
    this.#attempt = this.#relapses;
    this.#schedule();
  }

  #schedule(): void {
    const { backoff, clock, random } = this.#options;
    const ms = Math.min(backoff.maxMs, backoff.firstMs * 2 ** this.#attempt++);
    this.#timer = clock.setTimeout(
      () => void this.#probe(),
      ms * (0.5 + random() / 2),
    );
  }

  async #probe(): Promise<void> {
    const { engine, logger } = this.#options;
    try {
      await engine.reader.selectFrom("meta").select("id").limit(1).execute();
      await this.#recover();
    } catch (error) {
      logger.debug("the database is still unreachable", {
        error: reasonOf(error),
      });
      if (!this.#closed) this.#schedule();
      return;
    }
    if (this.#closed) return;
    this.#reason = undefined;
    this.#recoveredAt = this.#options.clock.now();
    logger.info("the database is reachable again");
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** Code and message of the driver, which contain no secrets (tested). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  const message = error.message === "" ? error.name : error.message;
  return typeof code === "string" ? `${code}: ${message}` : message;
}
