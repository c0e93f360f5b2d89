import { checkName } from "../schema/limits.js";
import type { AuditForwardRow } from "../schema/audit-tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** How far the audit log was forwarded to a target. */
export interface AuditForward {
  readonly target: string;
  /** The server that forwards, or was the last to do so. */
  readonly owner: string;
  /** The last entry that the target has received; 0: none. */
  readonly seq: number;
  /** Last heartbeat, in ms since the epoch; 0: released. */
  readonly seenAt: number;
}

export interface ForwardClaim {
  readonly target: string;
  readonly owner: string;
  /** A claim of another server without a heartbeat since this time, in ms since the epoch, has expired. */
  readonly notSeenSince: number;
  /** Position of a target that has none. */
  readonly startAfter: number;
}

/**
 * Positions of the targets to which the audit log is forwarded. Exactly one of
 * several servers forwards to a target: the one whose claim the database holds.
 * All methods throw XoError STORE_UNAVAILABLE while the database is unreachable.
 */
export class AuditForwards {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Claims a target, or renews the claim.
   * @returns its position; undefined: claimed by another server
   */
  async claim(claim: ForwardClaim): Promise<number | undefined> {
    const { clock, committer } = this.#context;
    const id = checkName("the target", claim.target);
    const owner = checkName("the owner", claim.owner);
    const row = { id, owner, seq: claim.startAfter, seen_at: clock.now() };
    return committer.run(async ({ sql }) => {
      const inserted = await sql
        .insertInto("audit_forwards")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("seq")
        .executeTakeFirst();
      if (inserted !== undefined) return inserted.seq;
      const renewed = await sql
        .updateTable("audit_forwards")
        .set({ owner, seen_at: row.seen_at })
        .where("id", "=", id)
        .where((e) =>
          e.or([e("owner", "=", owner), e("seen_at", "<", claim.notSeenSince)]),
        )
        .returning("seq")
        .executeTakeFirst();
      return renewed?.seq;
    });
  }

  /**
   * Records that a target has received all entries up to `seq`.
   * @returns false: another server has claimed the target in the meantime
   */
  async advance(target: string, owner: string, seq: number): Promise<boolean> {
    const seen_at = this.#context.clock.now();
    return this.#context.committer.run(async ({ sql }) => {
      const row = await sql
        .updateTable("audit_forwards")
        .set({ seq, seen_at })
        .where("id", "=", target)
        .where("owner", "=", owner)
        .returning("id")
        .executeTakeFirst();
      return row !== undefined;
    });
  }

  /** Releases the claim: other servers can claim the target immediately. */
  async release(target: string, owner: string): Promise<void> {
    await this.#context.committer.run(({ sql }) =>
      sql
        .updateTable("audit_forwards")
        .set({ seen_at: 0 })
        .where("id", "=", target)
        .where("owner", "=", owner)
        .execute(),
    );
  }

  async list(): Promise<AuditForward[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader.selectFrom("audit_forwards").selectAll().execute(),
    );
    return rows.map(toForward);
  }
}

function toForward(row: AuditForwardRow): AuditForward {
  return {
    target: row.id,
    owner: row.owner,
    seq: row.seq,
    seenAt: row.seen_at,
  };
}
