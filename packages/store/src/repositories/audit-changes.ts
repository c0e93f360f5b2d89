import type { AuditEntry } from "./audit-entry.js";
import type { AuditLog } from "./audit-log.js";
import type { RepositoryContext } from "./repository-context.js";

/** A change that begins: its entry without the outcome. */
export type PendingChange = Omit<AuditEntry, "outcome" | "errorCode">;

interface UnwrittenEntry {
  readonly entry: AuditEntry;
  readonly id: string | undefined;
}

const INTERRUPTED = { outcome: "unknown", errorCode: "INTERRUPTED" } as const;
const RETRY_MS = 5_000;
const MAX_UNWRITTEN = 10_000;
const PAGE_ROWS = 100;

/**
 * Entries of the audit log for changes outside of the database. A row is written
 * before the change, and replaced by the entry after it. So every change that was
 * made has an entry, even if the database is unreachable at its end (the entry is
 * written later), or the server ends before it (the next start writes it with the
 * outcome `unknown`).
 */
export class AuditChanges {
  readonly #context: RepositoryContext;
  readonly #log: AuditLog;
  /** Oldest first. */
  readonly #unwritten: UnwrittenEntry[] = [];
  #writing: Promise<void> | undefined;
  #timer: unknown;
  #isClosed = false;

  constructor(context: RepositoryContext, log: AuditLog) {
    this.#context = context;
    this.#log = log;
    context.availability.onState((state) => {
      if (state === "available") this.#writeAll();
    });
  }

  /** Number of entries that are not written yet. */
  get unwritten(): number {
    return this.#unwritten.length;
  }

  /**
   * To be called before the change.
   * @param owner the server that makes it
   * @returns id for `end`
   * @throws XoError STORE_UNAVAILABLE, QUEUE_FULL: the change must not be made
   */
  async begin(owner: string, change: PendingChange): Promise<string> {
    const { committer, clock, createId } = this.#context;
    const row = {
      id: createId(),
      owner,
      begun_at: clock.now(),
      entry_json: JSON.stringify(change),
    };
    await committer.run((unit) =>
      unit.sql.insertInto("audit_pending").values(row).execute(),
    );
    return row.id;
  }

  /**
   * Replaces what `begin` has written, for example when the task of the change is known.
   * Never rejects: without it, only the entry of a server that ends lacks this.
   */
  async update(id: string, change: PendingChange): Promise<void> {
    const entry_json = JSON.stringify(change);
    // Only the entry of a server that ends before the change does lacks it then.
    await this.#context.committer
      .run((unit) =>
        unit.sql
          .updateTable("audit_pending")
          .set({ entry_json })
          .where("id", "=", id)
          .execute(),
      )
      .catch(() => undefined);
  }

  /**
   * Writes the entry of a change, now or as soon as the database can be written.
   * Never rejects.
   * @param id of `begin`; undefined: the change has no row
   * @returns whether it is written
   */
  async end(id: string | undefined, entry: AuditEntry): Promise<boolean> {
    try {
      await this.#append(id, entry);
      return true;
    } catch (error) {
      const { logger } = this.#context;
      if (this.#unwritten.length >= MAX_UNWRITTEN) {
        logger.error(
          "an executed change could not be written to the audit log",
          { entry, error },
        );
        return false;
      }
      logger.warn("an entry of the audit log could not be written yet", {
        error,
      });
      this.#unwritten.push({ entry, id });
      this.#retryLater();
      return false;
    }
  }

  /**
   * Writes the entry of a change whose outcome this process will not know, unless it has one. Never rejects.
   * @returns whether it is written
   */
  interrupt(id: string, change: PendingChange): Promise<boolean> {
    return this.end(id, { ...change, ...INTERRUPTED });
  }

  /**
   * Removes the row of a change that was rejected, without an entry.
   * @returns false: the database is not reachable, `end` has to be called
   */
  async cancel(id: string): Promise<boolean> {
    try {
      await this.#context.committer.run((unit) =>
        unit.sql.deleteFrom("audit_pending").where("id", "=", id).execute(),
      );
      return true;
    } catch {
      // The entry that `end` queues is written when the database is reachable.
      return false;
    }
  }

  /**
   * Writes entries for changes that the previous run of a server did not end.
   * @returns their number
   * @throws XoError STORE_UNAVAILABLE
   */
  async endInterrupted(owner: string): Promise<number> {
    const { engine, availability } = this.#context;
    for (let count = 0; ;) {
      const rows = await availability.run(() =>
        engine.reader
          .selectFrom("audit_pending")
          .selectAll()
          .where("owner", "=", owner)
          .orderBy("begun_at")
          .limit(PAGE_ROWS)
          .execute(),
      );
      if (rows.length === 0) return count;
      for (const { id, entry_json } of rows) {
        const entry = JSON.parse(entry_json) as PendingChange;
        await this.#log.replacePending(id, { ...entry, ...INTERRUPTED });
        count++;
      }
    }
  }

  /** One more attempt for the entries that are not written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#context.clock.clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
  }

  #append(id: string | undefined, entry: AuditEntry): Promise<unknown> {
    return id === undefined
      ? this.#log.append(entry)
      : this.#log.replacePending(id, entry);
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#context.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#writeAll();
    }, RETRY_MS);
  }

  #writeAll(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#unwritten.length > 0) this.#retryLater();
    });
  }

  /** Writes the entries in order, up to the first that fails. Never rejects. */
  async #write(): Promise<void> {
    for (;;) {
      const next = this.#unwritten[0];
      if (next === undefined) return;
      try {
        await this.#append(next.id, next.entry);
      } catch {
        // Still unreachable: Availability has logged that.
        return;
      }
      this.#unwritten.shift();
    }
  }
}
