import type { SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";
import type { PoolState } from "./pool-state.js";
import type { Random } from "./random.js";
import type { XapiValue } from "./xapi-value.js";

/** What a handler needs to know of the pool it runs in. */
export interface PoolContext {
  /** Reference of the `pool` object. */
  readonly poolRef: string;
  /** Reference of the host that is the coordinator. */
  coordinatorRef(): string;
  /** `host[:port]` at which a member listens, or undefined where it has no listener. */
  addressOf(hostRef: string): string | undefined;
  /** `http://127.0.0.1:8080` of the member, or of the coordinator where it has no listener. */
  urlOf(hostRef: string): string;
  /** Does something after this time in ms, at the pool's pace, unless the pool stops before. */
  later(ms: number, work: () => void): void;
  /** Whether the host's listener answers; a coordinator that stops loses its sessions. */
  setReachable(hostRef: string, reachable: boolean): void;
  /** Another host that answers becomes the coordinator. @returns false where there is none */
  takeOver(): boolean;
  /** A session of its own for what another pool is to do here. @returns its reference */
  openSession(userName: string, hostRef: string): string;
}

/** The caller's session. */
export interface SessionContext {
  readonly ref: string;
  readonly userName: string;
}

/** The task that a call runs in: `Async.*` calls, and calls through HTTP handlers. */
export interface TaskContext {
  readonly ref: string;
  /** 0 to 1; writes the task's record. */
  progress(fraction: number): void;
  /** Aborted by task.cancel. `delay` of the context rejects with TASK_CANCELLED then. */
  readonly signal: AbortSignal;
}

export interface CallContext {
  readonly db: Database;
  readonly state: PoolState;
  readonly pool: PoolContext;
  readonly session: SessionContext;
  /** Undefined for synchronous calls. */
  readonly task: TaskContext | undefined;
  readonly clock: SimulatorClock;
  readonly random: Random;
  /** Waits by the clock; rejects with XapiFailure TASK_CANCELLED when the task is cancelled. */
  readonly delay: (ms: number) => Promise<void>;
}

/**
 * The effect of one message, such as `VM.start`. `params` are without the
 * session, validated against the datamodel, with defaults. The result has the
 * datamodel's type (undefined for void). To fail, throw XapiFailure. Messages
 * without a handler that the datamodel does not imply fail with
 * MESSAGE_METHOD_UNKNOWN.
 */
export type OperationHandler = (
  context: CallContext,
  params: readonly XapiValue[],
) => unknown;

/** Handlers by message name. They take precedence over the implied messages of the same name. */
export type OperationTable = Readonly<Record<string, OperationHandler>>;
