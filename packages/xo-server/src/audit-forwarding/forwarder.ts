import { pause, type WallClock } from "@xo-server/kit";
import type { AuditRecord, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { ForwardProgress } from "./forward-progress.js";
import type { ForwardStatus } from "./forward-status.js";
import type { AuditTarget } from "./targets/target.js";

export interface ForwarderOptions {
  readonly name: string;
  readonly target: AuditTarget;
  /** Whether a new target also gets the entries that were written before it was added. */
  readonly existingEntries: boolean;
  readonly store: Pick<Store, "audit" | "auditForwards" | "engine">;
  /** Name of this server. */
  readonly owner: string;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** Maximum number of entries per attempt. */
const BATCH = 100;
/** Delays between failed attempts. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;
/** Interval of the check for entries that other processes wrote. */
const POLL_MS = 10_000;
/** A claim without a heartbeat for this time has expired; longer than an attempt. */
const LEASE_MS = 120_000;

/**
 * Forwards the audit log to one target, in order. The position in the database is
 * moved after the target has received a batch: after a failure or restart only that
 * batch is sent again. While the target is unreachable nothing is queued: entries
 * wait in the database.
 */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #progress = new ForwardProgress();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  /** Position of the claim, while it is known to be valid. */
  #position: number | undefined;
  /**
   * Number of the last entry that the target has received, even if the position
   * could not be written to the database afterwards.
   */
  #received = 0;
  #retryMs = FIRST_RETRY_MS;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  get status(): ForwardStatus {
    const { name, target, clock } = this.#options;
    const { address } = target;
    return { name, address, ...this.#progress.status(clock.now()) };
  }

  start(): void {
    const remove = this.#options.store.audit.onAppend((record) => {
      this.#progress.appended(record);
      this.#wake.abort();
    });
    this.#running = this.#run().finally(remove);
  }

  /** Aborts the current attempt; its batch is sent again by the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const { store, name, owner } = this.#options;
    if (this.#position === undefined || store.engine === "sqlite") return;
    // If the release fails, the claim expires.
    await store.auditForwards.release(name, owner).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const stop = this.#stop.signal;
    while (!stop.aborted) {
      this.#wake = new AbortController();
      const ms = await this.#forwardOnce();
      const wake = this.#progress.isFailing ? undefined : this.#wake.signal;
      await pause(clock, ms, stop, wake);
    }
  }

  /** Sends one batch. Never rejects. @returns delay until the next one, in ms */
  async #forwardOnce(): Promise<number> {
    try {
      const position = await this.#claim();
      if (position === undefined) {
        await this.#observe();
        return POLL_MS;
      }
      const count = await this.#sendAfter(position);
      this.#retryMs = FIRST_RETRY_MS;
      return count < BATCH ? POLL_MS : 0;
    } catch (error) {
      return this.#stop.signal.aborted ? 0 : this.#fail(error as Error);
    }
  }

  /** @returns undefined: another server forwards */
  async #claim(): Promise<number | undefined> {
    const { store, name, owner, clock, existingEntries } = this.#options;
    // A SQLite database has one server, whose claim stays valid; a claim in PostgreSQL is renewed.
    if (store.engine === "sqlite" && this.#position !== undefined)
      return this.#position;
    this.#position = await store.auditForwards.claim({
      target: name,
      owner,
      notSeenSince: clock.now() - LEASE_MS,
      startAfter: existingEntries ? 0 : await store.audit.lastSeq(),
    });
    return this.#position;
  }

  /** @returns number of entries that were sent */
  async #sendAfter(claimed: number): Promise<number> {
    const { store, target, clock } = this.#options;
    if (this.#received > claimed) await this.#advance(this.#received);
    const position = Math.max(this.#received, claimed);
    const records = await store.audit.listAfter(position, BATCH);
    const isMore = records.length === BATCH;
    const last = isMore ? await store.audit.lastSeq() : records.at(-1)?.seq;
    this.#progress.read(position, records, last ?? position);
    if (records.length > 0) {
      this.#warnOfGap(position, records);
      await target.send(records, this.#stop.signal);
      this.#received = records.at(-1)!.seq;
      this.#progress.forwarded(records, clock.now());
      await this.#advance(this.#received);
    }
    this.#recovered();
    return records.length;
  }

  async #advance(seq: number): Promise<void> {
    const { store, name, owner } = this.#options;
    // Unknown until it is written, or if another server has claimed the target in the meantime.
    this.#position = undefined;
    if (await store.auditForwards.advance(name, owner, seq))
      this.#position = seq;
  }

  #recovered(): void {
    if (!this.#progress.isFailing) return;
    const { logger, name } = this.#options;
    logger.info(`the audit log is forwarded to ${name} again`);
    this.#progress.succeeded();
  }

  #warnOfGap(position: number, records: readonly AuditRecord[]): void {
    const missing = records[0]!.seq - position - 1;
    if (missing === 0) return;
    const { logger, name } = this.#options;
    logger.warn(
      `${missing} entries of the audit log were pruned before they were forwarded to ${name}`,
    );
  }

  /** Reads the position of the server that forwards. */
  async #observe(): Promise<void> {
    const { store, name } = this.#options;
    const forwards = await store.auditForwards.list();
    const seq = forwards.find(({ target }) => target === name)?.seq ?? 0;
    const [next] = await store.audit.listAfter(seq, 1);
    this.#progress.elsewhere(seq, next, await store.audit.lastSeq());
  }

  /** @returns delay until the next attempt, in ms */
  #fail(error: Error): number {
    const { logger, name } = this.#options;
    this.#progress.failed(error.message.slice(0, 200));
    logger.warn(`the audit log cannot be forwarded to ${name}`, {
      error: error.message,
    });
    const delay = this.#retryMs;
    this.#retryMs = Math.min(2 * delay, MAX_RETRY_MS);
    return delay;
  }
}
