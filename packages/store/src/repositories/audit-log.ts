import { XoError } from "@xo-server/model";
import { sql } from "kysely";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkPageRows } from "../schema/limits.js";
import type { AuditRow } from "../schema/audit-tables.js";
import { AuditEnds, type AuditEnd } from "./audit-ends.js";
import {
  GENESIS,
  toAuditRecord,
  toAuditRow,
  type AuditEntry,
  type AuditRecord,
} from "./audit-entry.js";
import { findLost, readLost } from "./audit-loss.js";
import { walkAudit, type AuditVerdict } from "./audit-walk.js";
import type { RepositoryContext } from "./repository-context.js";

export interface AuditPageOptions {
  readonly userId?: string;
  readonly operation?: string;
  readonly objectId?: string;
  /** Rows before this `seq`. */
  readonly before?: number;
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
}

/**
 * The audit log. The hash of each row covers the previous row, so that no row can
 * be changed, removed or inserted unnoticed; the last row is authenticated with a
 * key that is not in the database, so that the log cannot be truncated. Old rows
 * can be pruned: the last pruned row is authenticated in the same way and starts
 * the chain. A mark outside of the database (AuditMark) detects that an older copy
 * of the whole database was restored. In the database only: all methods throw
 * XoError STORE_UNAVAILABLE while it is unreachable.
 */
export class AuditLog {
  readonly #context: RepositoryContext;
  readonly #ends: AuditEnds;
  readonly #listeners = new Set<(record: AuditRecord) => void>();

  constructor(context: RepositoryContext) {
    this.#context = context;
    this.#ends = new AuditEnds(context);
  }

  /** Resolves when the entry is on disk. */
  async append(entry: AuditEntry): Promise<AuditRecord> {
    const { committer } = this.#context;
    const record = await committer.run((unit) => this.#append(unit, entry));
    this.#announce(record);
    return record;
  }

  /**
   * Replaces a row of AuditChanges by its entry, in one transaction; without
   * effect if an earlier attempt was committed, although it seemed to fail.
   */
  async replacePending(id: string, entry: AuditEntry): Promise<void> {
    const { committer } = this.#context;
    const record = await committer.run(async (unit) =>
      (await takePending(unit, id)) ? this.#append(unit, entry) : undefined,
    );
    if (record !== undefined) this.#announce(record);
  }

  #announce(record: AuditRecord): void {
    this.#context.auditMark?.raise(record);
    for (const listener of this.#listeners) listener(record);
  }

  async #append(unit: WriteUnit, entry: AuditEntry): Promise<AuditRecord> {
    const { clock } = this.#context;
    // Taking the number locks the head: other servers wait.
    const head = await unit.sql
      .updateTable("audit_head")
      .set({ seq: sql<number>`seq + 1` })
      .where("id", "=", "head")
      .returningAll()
      .executeTakeFirstOrThrow();
    const row = toAuditRow(entry, {
      seq: head.seq,
      time: clock.now(),
      previous: head.hash,
    });
    await unit.sql.insertInto("audit").values(row).execute();
    await this.#ends.write(unit, this.#ends.make("head", row));
    return toAuditRecord(row);
  }

  /** Newest first. @throws XoError INVALID_PARAMETERS */
  async list(options: AuditPageOptions = {}): Promise<AuditRecord[]> {
    const { engine, availability } = this.#context;
    const { userId, operation, objectId, before } = options;
    let query = engine.reader
      .selectFrom("audit")
      .selectAll()
      .orderBy("seq", "desc")
      .limit(checkPageRows(options.limit));
    if (before !== undefined) query = query.where("seq", "<", before);
    if (userId !== undefined) query = query.where("user_id", "=", userId);
    if (operation !== undefined)
      query = query.where("operation", "=", operation);
    if (objectId !== undefined) query = query.where("object_id", "=", objectId);
    const rows = await availability.run(() => query.execute());
    return rows.map(toAuditRecord);
  }

  /** Entries after `seq`, oldest first; some may have been pruned. @param limit 1 to 1,000 */
  async listAfter(seq: number, limit: number): Promise<AuditRecord[]> {
    const { engine, availability } = this.#context;
    const query = engine.reader
      .selectFrom("audit")
      .selectAll()
      .where("seq", ">", seq)
      .orderBy("seq")
      .limit(checkPageRows(limit));
    const rows = await availability.run(() => query.execute());
    return rows.map(toAuditRecord);
  }

  /** Number of the last entry; 0: there has been none. */
  async lastSeq(): Promise<number> {
    return (await this.#ends.read("head")).seq;
  }

  /** Calls the listener after each entry of this process. @returns a function that removes the listener */
  onAppend(listener: (record: AuditRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Verifies the chain, page by page, up to the first invalid row. Rows that are
   * appended during that time are not checked.
   */
  async verify(): Promise<AuditVerdict> {
    // Read before the head, which may advance together with the mark.
    const mark = await this.#context.auditMark?.read();
    const head = await this.#ends.read("head");
    const start = await this.#ends.read("start");
    if (!this.#ends.isSealed(start))
      return broken(
        0,
        start.seq,
        "the signature of the pruned part is not valid",
      );
    let checked = 0;
    let last: Pick<AuditEnd, "seq" | "hash"> = start;
    let marked = last;
    for await (const { rows, flaw } of walkAudit(
      this.#context,
      start,
      head.seq,
    )) {
      checked += rows.length;
      marked = rows.find(({ seq }) => seq === mark?.seq) ?? marked;
      last = rows.at(-1) ?? last;
      if (flaw !== undefined) return broken(checked, flaw.seq, flaw.reason);
    }
    const next = last.seq + 1;
    if (!this.#ends.isSealed(head))
      return broken(checked, next, "the signature is not valid");
    if (last.seq < head.seq)
      return broken(checked, next, `it is missing, ${head.seq} were written`);
    if (last.hash !== head.hash)
      return broken(checked, next, "it is not the last one");
    const missing = findLost(
      mark,
      { start, head, marked },
      this.#context.auditMark?.file ?? "",
    );
    if (missing !== undefined)
      return broken(checked, missing.seq, missing.reason);
    const pruned = start.seq === 0 ? {} : { pruned: start.seq };
    return { intact: true, checked, ...pruned };
  }

  /**
   * Deletes the oldest rows, up to the first that is not older. Each row is
   * verified before: an invalid row and the following ones are not deleted.
   * @param before milliseconds since the epoch
   * @returns `deleted`: number of deleted rows; the invalid row if there is one
   */
  async prune(before: number): Promise<AuditVerdict & { deleted: number }> {
    const start = await this.#ends.read("start");
    const { seq: last } = await this.#ends.read("head");
    if (!this.#ends.isSealed(start)) {
      const reason = "the signature of the pruned part is not valid";
      return { ...broken(0, start.seq, reason), deleted: 0 };
    }
    let deleted = 0;
    for await (const { rows, flaw } of walkAudit(this.#context, start, last)) {
      const young = rows.findIndex(({ time }) => time >= before);
      const old = young === -1 ? rows : rows.slice(0, young);
      await this.#recordPruned(old.at(-1));
      deleted += old.length;
      if (young !== -1) break;
      if (flaw !== undefined)
        return { ...broken(deleted, flaw.seq, flaw.reason), deleted };
    }
    return { intact: true, checked: deleted, deleted };
  }

  /**
   * Creates the first head (only one of several starting servers does), and
   * compares the mark with the database.
   * @param isNew the database was created by this start: an older mark is replaced
   */
  async prepare(isNew: boolean): Promise<void> {
    await this.#createHead();
    const { auditMark, logger } = this.#context;
    if (auditMark === undefined) return;
    const mark = await auditMark.read();
    if (isNew || mark === undefined) {
      await this.resetMark().catch((error: unknown) => auditMark.warn(error));
      return;
    }
    const { engine, availability } = this.#context;
    const missing = await availability.run(() =>
      readLost(engine, mark, auditMark.file),
    );
    if (missing === undefined) return;
    auditMark.reject(mark);
    logger.error(
      "the database has lost entries of the audit log, and other changes with them: it is older than the last start; restore a newer copy, or accept it with `xo-server audit accept`",
      { entry: missing.seq, reason: missing.reason },
    );
  }

  /** Accepts the present content: the last entry becomes the marked one. */
  async resetMark(): Promise<void> {
    await this.#context.auditMark?.replace(await this.#ends.read("head"));
  }

  async #createHead(): Promise<void> {
    const head = this.#ends.make("head", { seq: 0, hash: GENESIS });
    await this.#context.committer.run((unit) =>
      unit.sql
        .insertInto("audit_head")
        .values(head)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute(),
    );
  }

  /** Authenticates both ends with the current key. */
  async reseal(unit: WriteUnit): Promise<void> {
    for (const id of ["head", "start"] as const) {
      // An UPDATE locks the row, a SELECT would not.
      const end = await unit.sql
        .updateTable("audit_head")
        .set({ id })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (end === undefined) continue;
      if (!this.#ends.isSealed(end))
        throw new XoError("SECRET_DAMAGED", { what: `${id} of the audit log` });
      await this.#ends.write(unit, this.#ends.make(id, end));
    }
  }

  /** @param last the last pruned row */
  async #recordPruned(last: AuditRow | undefined): Promise<void> {
    if (last === undefined) return;
    await this.#context.committer.run(async (unit) => {
      await unit.sql.deleteFrom("audit").where("seq", "<=", last.seq).execute();
      await this.#ends.write(unit, this.#ends.make("start", last));
    });
  }
}

/** @returns whether the row existed */
async function takePending(unit: WriteUnit, id: string): Promise<boolean> {
  const row = await unit.sql
    .deleteFrom("audit_pending")
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @param checked number of valid rows before */
function broken(
  checked: number,
  seq: number,
  reason: string,
): AuditVerdict & { intact: false } {
  return { intact: false, checked, broken: { seq, reason } };
}
