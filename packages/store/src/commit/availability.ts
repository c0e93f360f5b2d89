import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { Engine } from "../engines/engine.js";
import type { Logger } from "../logger.js";

/**
 * available --a question fails because the database is gone--> unavailable
 * unavailable --the probe is answered, memory is read anew--> available
 */
export type AvailabilityState = "available" | "unavailable";

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

interface AvailabilityOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly backoff: Backoff;
  /** 0 to 1, so that many servers do not come back in step. */
  readonly random: () => number;
}

/** Whether the database answers. While it does not, nobody waits for it: questions fail at once, and one probe goes on trying. */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #listeners = new Set<(state: AvailabilityState) => void>();
  #recover: () => Promise<void> = async () => undefined;
  #reason: string | undefined;
  #timer: unknown;
  #attempt = 0;
  #closed = false;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
  }

  get state(): AvailabilityState {
    return this.#reason === undefined ? "available" : "unavailable";
  }

  /** @param recover what must succeed before the store counts as available again */
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

  /** Asks the database if it is there, and notices when it is not. */
  async run<T>(question: () => Promise<T>): Promise<T> {
    this.check();
    try {
      return await question();
    } catch (error) {
      throw this.translateError(error);
    }
  }

  /** What to throw for a failure of the database; one that is gone is remembered. */
  translateError(error: unknown): unknown {
    if (error instanceof XoError) return error;
    if (this.#options.engine.classify(error) !== "unavailable") return error;
    const reason = error instanceof Error ? reasonOf(error) : "unknown";
    this.#becomeUnavailable(reason);
    // Not as the cause: drivers put addresses and statements into their errors.
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
    this.#options.logger.warn("the store cannot be reached", { reason });
    this.#notify();
    this.#attempt = 0;
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
      logger.debug("the store is still away", { error: reasonOf(error) });
      if (!this.#closed) this.#schedule();
      return;
    }
    if (this.#closed) return;
    this.#reason = undefined;
    logger.info("the store is back");
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** A code and the driver's words: they name no secret (a test looks). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { code?: unknown };
  const words = error.message === "" ? error.name : error.message;
  return typeof code === "string" ? `${code}: ${words}` : words;
}
