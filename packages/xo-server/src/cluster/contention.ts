import type { HeldLease } from "./held-lease.js";

/** Called when this server gets or loses the lease on a subject. */
export interface LeaseHandlers {
  /** This server acts for the subject from now on. */
  readonly onHeld?: (lease: HeldLease) => void;
  /** This server must no longer act for the subject. */
  readonly onLost?: () => void;
  /** Whether another server may get the lease now. Default: always. */
  readonly mayMove?: () => boolean;
}

/** The participation of this server for one subject. */
export interface Contention {
  /** undefined while another server has the lease, or no server. */
  readonly lease: HeldLease | undefined;
  /** Resolves when the first attempt to take the lease has ended. */
  readonly hasTried: Promise<void>;
  /** Asks the owner for the lease. @returns undefined: it was not transferred in time */
  obtain(): Promise<HeldLease | undefined>;
  /** Releases the lease. */
  stop(): Promise<void>;
}
