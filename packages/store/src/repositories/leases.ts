import { XoError } from "@xo-server/model";
import { sql } from "kysely";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkName, limits } from "../schema/limits.js";
import type { LeaseRow } from "../schema/cluster-tables.js";
import { clusterNotice } from "../engines/cluster-notice.js";
import { databaseNow } from "../engines/database-clock.js";
import type { RepositoryContext } from "./repository-context.js";

/**
 * The lease that a server must own to write on behalf of a subject. A write with a
 * fence is rejected (LEASE_LOST) in its transaction if another process has taken
 * the lease since.
 */
export interface Fence {
  readonly subject: string;
  /** Increases each time the lease is taken. */
  readonly epoch: number;
}

/** A process of a server. */
export interface LeaseOwner {
  /** Name of the server. */
  readonly owner: string;
  /** Unique for each start of the server. */
  readonly instance: string;
}

export interface RenewedLease {
  readonly epoch: number;
  /** Name of the server that requests it. */
  readonly requestedBy?: string;
}

/** A lease as `list` reports it; times are those of the database. */
export interface Lease extends Fence {
  /** Name of the server that has or had it. */
  readonly owner: string;
  /** In ms since the epoch. */
  readonly takenAt: number;
  /** 0: it has expired or was released. */
  readonly expiresInMs: number;
}

/** A lease that another server can take, or that it can take soon if it is not renewed. */
export interface FreeLease {
  readonly subject: string;
  /** 0: it can be taken now. */
  readonly expiresInMs: number;
  /** Name of the server that has not renewed it in time; absent: released, transferred, or not expired. */
  readonly lostBy?: string;
}

/** A lease that no server has taken for this time is deleted, in ms: 30 days. */
const RETAINED_MS = 30 * 24 * 3_600_000;

/**
 * Which server owns what (jobs, the balancer of a pool, the tasks of a server): exactly
 * one, decided by the database and its clock. All methods throw XoError
 * STORE_UNAVAILABLE while the database is unreachable.
 */
export class Leases {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Takes a lease that is free, has expired, was transferred to or inherited by this
   * server, or that this process has.
   * @returns the new epoch; undefined: another server has the lease
   * @throws XoError INVALID_PARAMETERS: an empty subject or owner
   */
  async take(
    subject: string,
    { owner, instance }: LeaseOwner,
    ttlMs: number,
  ): Promise<Fence | undefined> {
    const { committer, engine } = this.#context;
    const now = databaseNow(engine);
    const row = {
      owner: checkName("the owner", owner),
      instance,
      requested_by: null,
      taken_at: now,
      expires_at: sql<number>`${now} + ${sql.lit(ttlMs)}`,
    };
    const id = checkName("the subject of the lease", subject);
    const taken = await committer.runApart((db) =>
      db
        .insertInto("leases")
        .values({ id, epoch: 1, ...row })
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet({ ...row, epoch: sql<number>`leases.epoch + 1` })
            .where((e) =>
              e.or([
                e("leases.expires_at", "<=", now),
                e.and([
                  e("leases.owner", "=", owner),
                  e("leases.instance", "in", ["", instance]),
                ]),
              ]),
            ),
        )
        .returning("epoch")
        .executeTakeFirst(),
    );
    return taken && { subject, epoch: taken.epoch };
  }

  /**
   * Renews all leases of a process in one statement; also those that have expired, if
   * no other has taken them.
   * @returns by subject; a lease that is missing was taken by another process
   */
  async renew(
    instance: string,
    ttlMs: number,
  ): Promise<ReadonlyMap<string, RenewedLease>> {
    const now = databaseNow(this.#context.engine);
    const rows = await this.#context.committer.runApart((db) =>
      db
        .updateTable("leases")
        .set({ expires_at: sql<number>`${now} + ${sql.lit(ttlMs)}` })
        .where("instance", "=", instance)
        .returning(["id", "epoch", "requested_by"])
        .execute(),
    );
    return new Map(
      rows.map(({ id, epoch, requested_by: requestedBy }) => [
        id,
        { epoch, ...(requestedBy === null ? {} : { requestedBy }) },
      ]),
    );
  }

  /** Asks the owner of a lease to transfer it: it finds the request when it renews, which the notice makes it do at once. */
  async request(subject: string, owner: string): Promise<void> {
    const { committer, engine } = this.#context;
    await committer.runApart((db) =>
      db
        .updateTable("leases")
        .set({ requested_by: checkName("the owner", owner) })
        .where("id", "=", subject)
        .where((e) =>
          e.or([e("requested_by", "is", null), e("requested_by", "!=", owner)]),
        )
        .returning(clusterNotice(engine).as("notice"))
        .execute(),
    );
  }

  /**
   * Transfers a lease: until it expires, only that server can take it.
   * @param instance the process that has it
   * @param to name of the other server
   */
  async transfer(
    { subject, epoch }: Fence,
    { instance, to }: { readonly instance: string; readonly to: string },
    ttlMs: number,
  ): Promise<void> {
    const { committer, engine } = this.#context;
    await committer.runApart((db) =>
      db
        .updateTable("leases")
        .set({
          owner: checkName("the owner", to),
          instance: "",
          epoch: epoch + 1,
          requested_by: null,
          expires_at: sql<number>`${databaseNow(engine)} + ${sql.lit(ttlMs)}`,
        })
        .where("id", "=", subject)
        .where("instance", "=", instance)
        .where("epoch", "=", epoch)
        .returning(clusterNotice(engine).as("notice"))
        .execute(),
    );
  }

  /**
   * Until the leases of an earlier process of this server expire, this server can take
   * them. Only for a process that has ended: one that is frozen may continue.
   * @param earlier instance of that process
   */
  async inherit(
    { owner }: Pick<LeaseOwner, "owner">,
    earlier: string,
  ): Promise<void> {
    await this.#context.committer.runApart((db) =>
      db
        .updateTable("leases")
        .set({ instance: "" })
        .where("owner", "=", owner)
        .where("instance", "=", earlier)
        .execute(),
    );
  }

  /**
   * Leases that have expired, were released, or were transferred to this server, and
   * those that expire within a time; at most 1,000, those that can be taken first.
   * @param withinMs in ms
   */
  async listFree(
    { owner, instance }: LeaseOwner,
    withinMs = 0,
  ): Promise<FreeLease[]> {
    const { engine, availability } = this.#context;
    const now = databaseNow(engine);
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("leases")
        .select(["id", "owner", "instance", "expires_at"])
        .select(now.as("now"))
        .where("instance", "!=", instance)
        .where((e) =>
          e.or([
            e("expires_at", "<=", sql<number>`${now} + ${sql.lit(withinMs)}`),
            e.and([e("owner", "=", owner), e("instance", "=", "")]),
          ]),
        )
        .orderBy("expires_at")
        .limit(limits.pageRows)
        .execute(),
    );
    return rows.map((row) => {
      const isOurs = row.owner === owner && row.instance === "";
      const expiresInMs = isOurs ? 0 : Math.max(0, row.expires_at - row.now);
      const isLost = expiresInMs === 0 && row.instance !== "";
      return {
        subject: row.id,
        expiresInMs,
        ...(isLost ? { lostBy: row.owner } : {}),
      };
    });
  }

  /** Other servers can take these leases immediately, and are notified. The epochs are not used again. */
  async release(instance: string, subjects: readonly string[]): Promise<void> {
    if (subjects.length === 0) return;
    const { committer, engine } = this.#context;
    await committer.runApart((db) =>
      db
        .updateTable("leases")
        .set({ expires_at: databaseNow(engine), instance: "" })
        .where("instance", "=", instance)
        .where("id", "in", subjects)
        .returning(clusterNotice(engine).as("notice"))
        .execute(),
    );
  }

  /** Ordered by subject. @param prefix only subjects that start with it */
  async list(prefix = ""): Promise<Lease[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("leases")
        .selectAll()
        .select(databaseNow(engine).as("now"))
        .where("id", ">=", prefix)
        .orderBy("id")
        .execute(),
    );
    return rows.filter(({ id }) => id.startsWith(prefix)).map(toLease);
  }

  /** Deletes leases that no server has had for 30 days, such as those of deleted pools. */
  async prune(): Promise<void> {
    const { committer, engine } = this.#context;
    const before = sql<number>`${databaseNow(engine)} - ${sql.lit(RETAINED_MS)}`;
    await committer.runApart((db) =>
      db
        .deleteFrom("leases")
        .where("expires_at", "<", before)
        // Versions that write 0 for a lease that is released may run.
        .where("taken_at", "<", before)
        .execute(),
    );
  }
}

/**
 * Locks a lease until the end of the transaction, so that it cannot be taken before.
 * @throws XoError LEASE_LOST
 */
export async function checkFence(
  { sql: db, isPostgres }: WriteUnit,
  fence: Fence | undefined,
): Promise<void> {
  if (fence === undefined) return;
  const held = db
    .selectFrom("leases")
    .select("id")
    .where("id", "=", fence.subject)
    .where("epoch", "=", fence.epoch);
  // A transaction of SQLite is the only writer from its begin.
  const row = await (isPostgres ? held.forShare() : held).executeTakeFirst();
  if (row === undefined)
    throw new XoError("LEASE_LOST", { subject: fence.subject });
}

function toLease(row: LeaseRow & { readonly now: number }): Lease {
  return {
    subject: row.id,
    owner: row.owner,
    epoch: row.epoch,
    takenAt: row.taken_at,
    expiresInMs: Math.max(0, row.expires_at - row.now),
  };
}
