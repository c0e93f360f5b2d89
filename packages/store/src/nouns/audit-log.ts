import { XoError } from "@xo-server/model";
import { sql } from "kysely";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkPageRows } from "../limits.js";
import type { Tables } from "../tables.js";
import {
  GENESIS,
  hashOf,
  toAuditRecord,
  toAuditRow,
  type AuditEntry,
  type AuditRecord,
} from "./audit-entry.js";
import type { Parts } from "./parts.js";

export interface AuditPageOptions {
  readonly userId?: string;
  readonly operation?: string;
  readonly objectId?: string;
  /** Rows before this `seq`. */
  readonly before?: number;
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
}

export type AuditVerdict =
  | { readonly intact: true; readonly checked: number }
  | {
      readonly intact: false;
      /** Rows that were found to be in order before. */
      readonly checked: number;
      /** The first row that is not what was written, and in what way. */
      readonly broken: { readonly seq: number; readonly reason: string };
    };

const HEAD = "head";
const SEAL_PURPOSE = "head of the audit log";
const VERIFY_PAGE_ROWS = 250;

/**
 * Who did what. Each row's hash covers the row before, so that none can be
 * changed, taken out or put in; the end is sealed with a key that is not in the
 * database, so that none can be cut off. (A whole database put back to an older
 * copy cannot be told from inside.) In the database only: everything throws
 * XoError STORE_UNAVAILABLE while it is gone.
 */
export class AuditLog {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves once it is on the disk. */
  async append(entry: AuditEntry): Promise<AuditRecord> {
    const { committer, clock } = this.#parts;
    return committer.run(async (unit) => {
      // Taking the number locks the head: other servers wait their turn.
      const head = await unit.sql
        .updateTable("audit_head")
        .set({ seq: sql<number>`seq + 1` })
        .where("id", "=", HEAD)
        .returningAll()
        .executeTakeFirstOrThrow();
      const row = toAuditRow(entry, {
        seq: head.seq,
        time: clock.now(),
        previous: head.hash,
      });
      await unit.sql.insertInto("audit").values(row).execute();
      await this.#setHead(unit, row);
      return toAuditRecord(row);
    });
  }

  /** Newest first. @throws XoError INVALID_PARAMETERS */
  async list(options: AuditPageOptions = {}): Promise<AuditRecord[]> {
    const { engine, availability } = this.#parts;
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
    const rows = await availability.ask(() => query.execute());
    return rows.map(toAuditRecord);
  }

  /** Walks the log, page by page, to the first link that is broken. What is appended meanwhile is not looked at. */
  async verify(): Promise<AuditVerdict> {
    const head = await this.#head();
    let previous = GENESIS;
    for (let checked = 0; ;) {
      const rows = await this.#pageAfter(checked, head.seq);
      for (const row of rows) {
        const reason = flawOf(row, checked + 1, previous);
        if (reason !== undefined) return broken(checked, reason);
        previous = row.hash;
        checked++;
      }
      if (rows.length < VERIFY_PAGE_ROWS)
        return this.#verifyEnd(head, checked, previous);
    }
  }

  /** Makes the first head. Of several servers that start at once, one does. */
  async prepare(): Promise<void> {
    const head = { id: HEAD, seq: 0, hash: GENESIS };
    await this.#parts.committer.run((unit) =>
      unit.sql
        .insertInto("audit_head")
        .values({ ...head, seal: this.#sealOf(head) })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute(),
    );
  }

  /** Seals the end with the key in use now. */
  async reseal(unit: WriteUnit): Promise<void> {
    // Writing locks the head, reading would not.
    const head = await unit.sql
      .updateTable("audit_head")
      .set({ id: HEAD })
      .where("id", "=", HEAD)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (!this.#isSealed(head))
      throw new XoError("SECRET_DAMAGED", { what: "end of the audit log" });
    await this.#setHead(unit, head);
  }

  async #verifyEnd(
    head: Tables["audit_head"],
    checked: number,
    last: string,
  ): Promise<AuditVerdict> {
    if (!this.#isSealed(head)) return broken(checked, "the seal is not ours");
    if (checked < head.seq)
      return broken(checked, `it is missing, ${head.seq} were written`);
    if (last !== head.hash) return broken(checked, "it is not the last one");
    return { intact: true, checked };
  }

  async #head(): Promise<Tables["audit_head"]> {
    const { engine, availability } = this.#parts;
    const head = await availability.ask(() =>
      engine.reader
        .selectFrom("audit_head")
        .selectAll()
        .where("id", "=", HEAD)
        .executeTakeFirst(),
    );
    return head ?? { id: HEAD, seq: 0, hash: GENESIS, seal: "" };
  }

  #pageAfter(seq: number, last: number) {
    const { engine, availability } = this.#parts;
    return availability.ask(() =>
      engine.reader
        .selectFrom("audit")
        .selectAll()
        .where("seq", ">", seq)
        .where("seq", "<=", last)
        .orderBy("seq")
        .limit(VERIFY_PAGE_ROWS)
        .execute(),
    );
  }

  async #setHead(
    unit: WriteUnit,
    { seq, hash }: { seq: number; hash: string },
  ): Promise<void> {
    await unit.sql
      .updateTable("audit_head")
      .set({ hash, seal: this.#sealOf({ seq, hash }) })
      .where("id", "=", HEAD)
      .execute();
  }

  #sealOf({ seq, hash }: { seq: number; hash: string }): string {
    return this.#parts.vault.authenticate(SEAL_PURPOSE, `${seq}/${hash}`);
  }

  #isSealed({ seq, hash, seal }: Tables["audit_head"]): boolean {
    const { vault } = this.#parts;
    return vault.isAuthentic(SEAL_PURPOSE, `${seq}/${hash}`, seal);
  }
}

function flawOf(
  row: Tables["audit"],
  seq: number,
  previous: string,
): string | undefined {
  if (row.seq !== seq) return "it is missing";
  if (row.previous !== previous) return "it does not follow the row before";
  if (row.hash !== hashOf(row)) return "it was changed";
  return undefined;
}

/** @param checked rows before */
function broken(checked: number, reason: string): AuditVerdict {
  return { intact: false, checked, broken: { seq: checked + 1, reason } };
}
