import type { CallLog } from "./call-log.js";
import type { SimulatorClock } from "../clock.js";
import type { Database } from "../database.js";
import type { EventQueue } from "../events/event-queue.js";
import type { EventWaiters } from "../events/event-waiters.js";
import type { Faults } from "../faults/transport-faults.js";
import type { Listings } from "../listings.js";
import type { InjectedErrors } from "../faults/injected-errors.js";
import type { CallContext, PoolContext } from "../operation.js";
import type { PoolState } from "../pool-state.js";
import type { Random } from "../random.js";
import type { Sessions } from "../sessions.js";
import type { Tasks } from "../tasks.js";
import type { FailureProfile } from "../faults/failure-profile.js";
import type { Timers } from "../timers.js";
import type { XapiValue } from "../xapi-value.js";

/** The parts of a simulated pool that calls work with. */
export interface Core {
  readonly db: Database;
  readonly state: PoolState;
  readonly clock: SimulatorClock;
  readonly random: Random;
  readonly sessions: Sessions;
  readonly tasks: Tasks;
  readonly waiters: EventWaiters;
  readonly queue: EventQueue;
  readonly listings: Listings;
  readonly faults: Faults;
  readonly injectedErrors: InjectedErrors;
  readonly callLog: CallLog;
  readonly failureProfile: FailureProfile;
  readonly timers: Timers;
  readonly pool: PoolContext & {
    /** Makes another member the coordinator. @throws XapiFailure HANDLE_INVALID */
    promote(hostRef: string): void;
    /** Address of the coordinator of the pool that this host has joined. */
    following(): string | undefined;
    follow(address: string | undefined): void;
  };
  readonly credentials: Credentials;
  readonly nbd: {
    /** Starts the server at the first request. */
    addressOf(hostRef: string): Promise<NbdAddress>;
    stop(): Promise<void>;
  };
}

/** Where a host offers disks over NBD. */
export interface NbdAddress {
  readonly address: string;
  readonly port: number;
  /** PEM. */
  readonly certificate: string;
  /** A host name that the certificate is for. */
  readonly subject: string;
}

interface Credentials {
  /** Whether the password is this user's. */
  accepts(userName: string, password: string): boolean;
  changePassword(password: string): void;
  /** What a wrong password costs, in milliseconds: PAM's delay. */
  readonly refusalMs: number;
}

/** Where a call came in. */
export interface CallOrigin {
  /** The host whose listener took the call. */
  readonly hostRef: string;
  /** Aborted when the connection ends. */
  readonly closed: AbortSignal;
  /** other_config of a task that the call creates. */
  readonly taskMarks?: Readonly<Record<string, string>>;
}

/** What the simulator's own handlers see beyond an operation's context. */
export interface CoreContext extends CallContext {
  readonly core: Core;
  readonly origin: CallOrigin;
}

/** Like OperationHandler, for the messages that the core itself serves. May return an Answer. */
type CoreHandler = (
  context: CoreContext,
  params: readonly XapiValue[],
) => unknown;

export type CoreTable = Readonly<Record<string, CoreHandler>>;
