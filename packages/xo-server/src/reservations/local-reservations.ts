import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type {
  Reservation,
  ReservationRequest,
  Reservations,
} from "./reservations.js";

interface LocalReservation<Body> extends Reservation<Body> {
  readonly subject: string;
}

/** Reservations of the only server of a database. They are in memory and end with the process. */
export class LocalReservations<Body> implements Reservations<Body> {
  readonly #clock: Pick<WallClock, "now">;
  readonly #all = new Map<string, LocalReservation<Body>>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  async reserve<Seen>(
    subject: string,
    { read, isObsolete, toBody }: ReservationRequest<Seen, Body>,
  ): Promise<Reservation<Body>> {
    const seen = await read();
    // Synchronous from here on, so that concurrent calls see the reservation.
    const others: Reservation<Body>[] = [];
    for (const one of this.#all.values()) {
      if (one.subject !== subject) continue;
      if (isObsolete(one, seen)) this.#all.delete(one.id);
      else others.push(one);
    }
    const body = toBody(seen, others);
    const madeAt = this.#clock.now();
    const reservation = { id: randomUUID(), subject, madeAt, body };
    this.#all.set(reservation.id, reservation);
    return reservation;
  }

  async settle(
    { id }: Reservation<Body>,
    body: Body,
    caughtUp?: () => Promise<unknown>,
  ): Promise<void> {
    const reservation = this.#all.get(id);
    if (reservation !== undefined) this.#all.set(id, { ...reservation, body });
    if (caughtUp === undefined) return;
    await caughtUp();
    this.#all.delete(id);
  }

  async drop({ id }: Pick<Reservation<Body>, "id">): Promise<void> {
    this.#all.delete(id);
  }
}
