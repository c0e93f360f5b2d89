/** A part of a limit, reserved for an object that the mirror does not have yet. */
export interface Reservation<Body> {
  readonly id: string;
  /** In ms since the epoch. */
  readonly madeAt: number;
  readonly body: Body;
}

/** @typeParam Seen what the mirror has of the limit */
export interface ReservationRequest<Seen, Body> {
  /**
   * Resolves when the mirror shows the current state of the pools concerned; false:
   * that is not known.
   */
  readonly caughtUp: () => Promise<boolean>;
  readonly read: () => Promise<Seen>;
  /** Whether the mirror contains everything that was reserved, or the reservation is too old. */
  readonly isObsolete: (one: Reservation<Body>, seen: Seen) => boolean;
  /**
   * Decides from the mirror and the reservations that it does not contain yet; may
   * be called more than once. If it throws, nothing is reserved.
   */
  readonly toBody: (seen: Seen, others: readonly Reservation<Body>[]) => Body;
}

/** Reservations of limited resources: concurrent callers do not get the same part. */
export interface Reservations<Body> {
  /**
   * @param subject the limit
   * @throws errors of `toBody`; with several servers XoError STORE_UNAVAILABLE,
   * LEASE_LOST
   */
  reserve<Seen>(
    subject: string,
    request: ReservationRequest<Seen, Body>,
  ): Promise<Reservation<Body>>;
  /**
   * To be called when the object exists.
   * @param caughtUp resolves when the mirror shows the object; absent: it is
   * counted once the mirror shows it
   */
  settle(
    reservation: Reservation<Body>,
    body: Body,
    caughtUp?: () => Promise<unknown>,
  ): Promise<void>;
  /** To be called when the object will not be created. */
  drop(reservation: Pick<Reservation<Body>, "id">): Promise<void>;
}
