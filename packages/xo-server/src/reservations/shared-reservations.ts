import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { Fence, Store } from "@xo-server/store";
import type {
  Reservation,
  ReservationRequest,
  Reservations,
} from "./reservations.js";

export interface SharedReservationsOptions {
  readonly store: Pick<
    Store["reservations"],
    "list" | "make" | "settle" | "delete"
  >;
  /** Of the lease on the tasks of this server: when it is lost, what was being created ends elsewhere. */
  readonly fence: () => Fence;
  /** A reservation is stored at most so long, in ms. */
  readonly forMs: number;
  readonly clock: Pick<WallClock, "now">;
}

type Stored = Awaited<ReturnType<Store["reservations"]["list"]>>[number];

/**
 * Reservations in the database, for several servers, each with a mirror of its own. One whose
 * object exists is kept for a while: a server counts it until its mirror has caught up since.
 */
export class SharedReservations<Body> implements Reservations<Body> {
  readonly #options: SharedReservationsOptions;
  /** By subject: ids of settled ones whose objects the mirror has, or that were deleted since. */
  readonly #included = new Map<string, ReadonlySet<string>>();

  constructor(options: SharedReservationsOptions) {
    this.#options = options;
  }

  async make<Seen>(
    subject: string,
    { caughtUp, read, isOver, toBody }: ReservationRequest<Seen, Body>,
  ): Promise<Reservation<Body>> {
    const { store, fence, forMs, clock } = this.#options;
    // Before the mirror is read: one that is settled meanwhile may be missing there.
    const included = await this.#findIncluded(subject, caughtUp);
    const seen = await read();
    const id = randomUUID();
    let over: readonly Stored[] = [];
    const body = await store.make(
      { id, subject, fence: fence(), forMs },
      (stored) => {
        const open = stored.filter((one) => !included.has(one.id));
        over = open.filter((one) => isOver(toReservation<Body>(one), seen));
        const others = open.filter((one) => !over.includes(one));
        return toBody(seen, others.map(toReservation<Body>));
      },
    );
    await this.#settleSeen(over);
    return { id, madeAt: clock.now(), body };
  }

  async settle(
    { id }: Reservation<Body>,
    body: Body,
    caughtUp?: () => Promise<unknown>,
  ): Promise<void> {
    await caughtUp?.();
    // The object exists, whatever happens to the database: it is counted twice until the reservation is too old.
    await this.#options.store.settle(id, body).catch(() => undefined);
  }

  async drop({ id }: Pick<Reservation<Body>, "id">): Promise<void> {
    // Why the object was not created is reported; the reservation counts until it is too old.
    await this.#options.store.delete(id).catch(() => undefined);
  }

  /** Settled ones that need not be counted: of this server, whose mirror had their objects, and of others before the mirror has caught up. */
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

  /** Those of this server that nobody settles: the mirror has their objects. */
  async #settleSeen(over: readonly Stored[]): Promise<void> {
    const { store, fence } = this.#options;
    for (const { id, holder, settledAt, body } of over)
      if (settledAt === undefined && holder === fence().subject)
        await store.settle(id, body);
  }
}

function toReservation<Body>({ id, madeAt, body }: Stored): Reservation<Body> {
  return { id, madeAt, body: body as Body };
}
