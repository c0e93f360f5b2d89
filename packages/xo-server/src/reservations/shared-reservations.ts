import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { Fence, Store } from "@xo-server/store";
import type {
  Reservation,
  ReservationRequest,
  Reservations,
} from "./reservations.js";

interface SharedReservationsOptions {
  readonly store: Pick<
    Store["reservations"],
    "list" | "reserve" | "settle" | "delete"
  >;
  /**
   * Fence of the lease on the tasks of this server. Without that lease, another
   * server completes what was being created.
   */
  readonly fence: () => Fence;
  /** Maximum duration of a stored reservation, in ms. */
  readonly forMs: number;
  readonly clock: Pick<WallClock, "now">;
}

type Stored = Awaited<ReturnType<Store["reservations"]["list"]>>[number];

/**
 * Reservations in the database, for several servers, each with its own mirror. A
 * reservation whose object exists is kept for some time: a server counts it until
 * its mirror shows a later state.
 */
export class SharedReservations<Body> implements Reservations<Body> {
  readonly #options: SharedReservationsOptions;
  /**
   * By subject: ids of settled reservations whose objects the mirror contains, or
   * that were deleted since.
   */
  readonly #included = new Map<string, ReadonlySet<string>>();

  constructor(options: SharedReservationsOptions) {
    this.#options = options;
  }

  async reserve<Seen>(
    subject: string,
    { caughtUp, read, isObsolete, toBody }: ReservationRequest<Seen, Body>,
  ): Promise<Reservation<Body>> {
    const { store, fence, forMs, clock } = this.#options;
    // Determined before the mirror is read, because the mirror may lack
    // reservations that are settled afterwards.
    const included = await this.#findIncluded(subject, caughtUp);
    const seen = await read();
    const id = randomUUID();
    let obsolete: readonly Stored[] = [];
    const body = await store.reserve(
      { id, subject, fence: fence(), forMs },
      (stored) => {
        const open = stored.filter((one) => !included.has(one.id));
        obsolete = open.filter((one) =>
          isObsolete(toReservation<Body>(one), seen),
        );
        const others = open.filter((one) => !obsolete.includes(one));
        return toBody(seen, others.map(toReservation<Body>));
      },
    );
    await this.#settleSeen(obsolete);
    return { id, madeAt: clock.now(), body };
  }

  async settle(
    { id }: Reservation<Body>,
    body: Body,
    caughtUp?: () => Promise<unknown>,
  ): Promise<void> {
    await caughtUp?.();
    // The object exists even if the database fails: it is then counted twice until
    // the reservation expires.
    await this.#options.store.settle(id, body).catch(() => undefined);
  }

  async drop({ id }: Pick<Reservation<Body>, "id">): Promise<void> {
    // The caller gets the error that prevented the creation. The reservation counts
    // until it expires.
    await this.#options.store.delete(id).catch(() => undefined);
  }

  /**
   * Settled reservations that need not be counted: those of this server, whose
   * mirror contained their objects, and those of others that were settled before
   * the mirror caught up.
   */
  async #findIncluded(
    subject: string,
    caughtUp: () => Promise<boolean>,
  ): Promise<ReadonlySet<string>> {
    const { store, fence } = this.#options;
    const before = this.#included.get(subject) ?? new Set();
    const settled = (await store.list(subject)).filter(
      ({ settledAt }) => settledAt !== undefined,
    );
    const isKnown = ({ id, holder }: Stored) =>
      before.has(id) || holder === fence().subject;
    const all =
      settled.every(isKnown) || (await caughtUp())
        ? settled
        : settled.filter(isKnown);
    const included = new Set(all.map(({ id }) => id));
    this.#included.set(subject, included);
    return included;
  }

  /**
   * Settles reservations of this server that no caller has settled: the mirror
   * contains their objects.
   */
  async #settleSeen(obsolete: readonly Stored[]): Promise<void> {
    const { store, fence } = this.#options;
    for (const { id, holder, settledAt, body } of obsolete)
      if (settledAt === undefined && holder === fence().subject)
        await store.settle(id, body);
  }
}

function toReservation<Body>({ id, madeAt, body }: Stored): Reservation<Body> {
  return { id, madeAt, body: body as Body };
}
