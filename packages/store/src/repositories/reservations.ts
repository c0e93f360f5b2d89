import { sql } from "kysely";
import type { WriteUnit } from "../commit/write-unit.js";
import { toJson } from "../schema/limits.js";
import type { ReservationRow } from "../schema/cluster-tables.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

/** A part of a limit that a server has reserved. Times are in ms since the epoch, by the clock of the store. */
export interface Reservation {
  readonly id: string;
  /** Subject of the lease of the server that created it. */
  readonly holder: string;
  readonly madeAt: number;
  /** Time since which the reserved object exists; undefined: it does not yet. */
  readonly settledAt: number | undefined;
  readonly body: unknown;
}

export interface NewReservation {
  /** Unique. */
  readonly id: string;
  /** The limited resource, such as a resource set. */
  readonly subject: string;
  /** The lease of the server: when another one takes it, unsettled reservations no longer count. */
  readonly fence: Fence;
  /** Maximum duration of the reservation in ms; a settled one is kept for `RETAINED_MS`. */
  readonly forMs: number;
}

/**
 * Time for which settled reservations are kept, for servers whose mirror does not
 * show the object yet, in ms.
 */
const RETAINED_MS = 60_000;

/**
 * Reservations of limits that several servers share: one at a time is created for a
 * subject, so that two servers cannot reserve the same. All methods throw XoError
 * STORE_UNAVAILABLE while the database is unreachable.
 */
export class Reservations {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Those that count, of all servers, in the order of their ids. */
  async list(subject: string): Promise<Reservation[]> {
    const { engine, availability } = this.#context;
    return availability.run(() => selectValid(engine.reader, subject));
  }

  /**
   * Makes a reservation.
   * @param toBody decides by those that count; it may run more than once. An error: nothing is reserved
   * @returns what `toBody` has returned
   * @throws XoError LEASE_LOST; what `toBody` throws
   */
  async reserve<T>(
    { id, subject, fence, forMs }: NewReservation,
    toBody: (others: readonly Reservation[]) => T,
  ): Promise<T> {
    const { committer, clock } = this.#context;
    const made = await committer.run(async (unit) => {
      await checkFence(unit, fence);
      await lockSubject(unit, subject);
      const now = clock.now();
      await deleteOld(unit, subject, { now, forMs });
      const others = await selectValid(unit.sql, subject);
      let body: T;
      try {
        body = toBody(others);
      } catch (error) {
        // Returned instead of thrown, because other changes share the transaction.
        return { error };
      }
      const row: ReservationRow = {
        id,
        subject,
        holder: fence.subject,
        epoch: fence.epoch,
        made_at: now,
        settled_at: null,
        body_json: toJson("the reservation", body),
      };
      await unit.sql.insertInto("reservations").values(row).execute();
      return { body };
    });
    if ("error" in made) throw made.error;
    return made.body;
  }

  /**
   * Marks the reservation as settled, because its object exists. It is kept until
   * other servers see the object.
   * @param body replaces its body
   */
  async settle(id: string, body: unknown): Promise<void> {
    const { committer, clock } = this.#context;
    await committer.run((unit) =>
      unit.sql
        .updateTable("reservations")
        .set({
          settled_at: clock.now(),
          body_json: toJson("the reservation", body),
        })
        .where("id", "=", id)
        .execute(),
    );
  }

  /** Deletes a reservation whose object will not be created. */
  async delete(id: string): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql.deleteFrom("reservations").where("id", "=", id).execute(),
    );
  }
}

/** Until the end of the transaction no other server makes a reservation for the subject. */
async function lockSubject(
  { sql: db, isPostgres }: WriteUnit,
  subject: string,
): Promise<void> {
  // A transaction of SQLite is the only writer from its begin.
  if (!isPostgres) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(
    db,
  );
}

async function deleteOld(
  { sql: db }: WriteUnit,
  subject: string,
  { now, forMs }: { readonly now: number; readonly forMs: number },
): Promise<void> {
  await db
    .deleteFrom("reservations")
    .where("subject", "=", subject)
    .where((e) =>
      e.or([
        e("settled_at", "<", now - RETAINED_MS),
        e("made_at", "<", now - forMs),
      ]),
    )
    .execute();
}

async function selectValid(
  db: Pick<WriteUnit["sql"], "selectFrom">,
  subject: string,
): Promise<Reservation[]> {
  const rows = await db
    .selectFrom("reservations")
    .leftJoin("leases", (join) =>
      join
        .onRef("leases.id", "=", "reservations.holder")
        .onRef("leases.epoch", "=", "reservations.epoch"),
    )
    .selectAll("reservations")
    .where("subject", "=", subject)
    .where((e) =>
      e.or([
        e("reservations.settled_at", "is not", null),
        e("leases.id", "is not", null),
      ]),
    )
    .orderBy("reservations.id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    holder: row.holder,
    madeAt: row.made_at,
    settledAt: row.settled_at ?? undefined,
    body: JSON.parse(row.body_json) as unknown,
  }));
}
