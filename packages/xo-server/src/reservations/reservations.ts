/** A part of a limit, reserved for an object that the mirror does not have yet. */
export interface Reservation<Body> {
  readonly id: string;
  /** In ms since the epoch. */
  readonly madeAt: number;
  readonly body: Body;
}

/** @typeParam Seen what the mirror has of the limit */
export interface ReservationRequest<Seen, Body> {
  /** Resolves when the mirror shows the pools concerned as they are now; false: that is not known. */
  readonly caughtUp: () => Promise<boolean>;
  readonly read: () => Promise<Seen>;
  /** Whether the mirror has all that was reserved, or it is too old. */
  readonly isOver: (one: Reservation<Body>, seen: Seen) => boolean;
  /**
   * Decides by what the mirror has and the reservations that it does not contain; may run more than once.
   * An error: nothing is reserved.
   */
  readonly toBody: (seen: Seen, others: readonly Reservation<Body>[]) => Body;
}

/** Reservations of limits: two callers at the same time do not get the same part. */
export interface Reservations<Body> {
  /**
   * @param subject what is limited
   * @throws what `toBody` throws; of several servers XoError STORE_UNAVAILABLE, LEASE_LOST
   */
  make<Seen>(
    subject: string,
    request: ReservationRequest<Seen, Body>,
  ): Promise<Reservation<Body>>;
  /**
   * The object exists.
   * @param caughtUp resolves when the mirror shows it; absent: it is counted when it is seen
   */
  settle(
    reservation: Reservation<Body>,
    body: Body,
    caughtUp?: () => Promise<unknown>,
  ): Promise<void>;
  /** The object will not exist. */
  drop(reservation: Pick<Reservation<Body>, "id">): Promise<void>;
}
