import type { WriteUnit } from "../commit/write-unit.js";
import type { Tables } from "../schema/tables.js";
import { GENESIS } from "./audit-entry.js";
import type { RepositoryContext } from "./repository-context.js";

/** The two authenticated ends of the hash chain: the last row, and the last pruned row. */
type AuditEndName = "head" | "start";
export type AuditEnd = Tables["audit_head"];

const PURPOSE: Readonly<Record<AuditEndName, string>> = {
  head: "head of the audit log",
  start: "start of the audit log",
};

/** The ends of the hash chain, authenticated with a key that is not in the database. */
export class AuditEnds {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** The stored end; that of an empty log if there is none. */
  async read(id: AuditEndName): Promise<AuditEnd> {
    const { engine, availability } = this.#context;
    const end = await availability.run(() =>
      engine.reader
        .selectFrom("audit_head")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return end ?? this.make(id, { seq: 0, hash: GENESIS });
  }

  make(
    id: AuditEndName,
    { seq, hash }: Pick<AuditEnd, "seq" | "hash">,
  ): AuditEnd {
    const seal = this.#context.vault.authenticate(
      PURPOSE[id],
      `${seq}/${hash}`,
    );
    return { id, seq, hash, seal };
  }

  isSealed({ id, seq, hash, seal }: AuditEnd): boolean {
    const purpose = PURPOSE[id as AuditEndName];
    return this.#context.vault.isAuthentic(purpose, `${seq}/${hash}`, seal);
  }

  async write(unit: WriteUnit, end: AuditEnd): Promise<void> {
    await unit.sql
      .insertInto("audit_head")
      .values(end)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(end))
      .execute();
  }
}
