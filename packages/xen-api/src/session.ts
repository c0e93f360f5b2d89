import { type Logger, type MonotonicClock, pause } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import { raceCandidates } from "./candidate-race.js";
import type { Candidates } from "./candidates.js";
import {
  addressName,
  addressUrl,
  siblingAddress,
  type Address,
} from "./http/address.js";
import type { Login, OpenSession } from "./login.js";
import {
  backoffMs,
  isPermanent,
  isNetworkError,
  type BackoffLimits,
} from "./retry-policy.js";
import type { XapiState } from "./xapi.js";

/** An open session with the number of its login. */
export interface Connected extends OpenSession {
  readonly generation: number;
}

export interface SessionOptions {
  readonly login: Login;
  readonly candidates: Candidates;
  readonly backoff: BackoffLimits;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly label: string;
  readonly onConnected: (connected: Connected) => void;
}

interface Waiter {
  readonly resolve: (connected: Connected) => void;
  readonly reject: (error: Error) => void;
  /** True: waits until there is a session. False: rejects on a permanent error. */
  readonly waitsThroughFailures: boolean;
}

/** HOST_IS_SLAVE redirects followed in a row; more are a loop. */
const MAX_HOPS = 3;
const LOGOUT_MS = 2_000;

/**
 * The session with one pool: login, renewal, change of coordinator, logout. At
 * most one login is in progress, however many callers wait.
 *
 *   disconnected --connect()--> connecting --login--> connected
 *   connecting   --no candidate left, HOST_STILL_BOOTING, rejected password--> backing-off
 *   backing-off  --after the pause--> connecting
 *   connected    --SESSION_INVALID, HOST_IS_SLAVE, session not found by probe()--> connecting
 *   any          --disconnect()--> stopped
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<(state: XapiState) => void>();
  readonly #waiters = new Set<Waiter>();
  #state: XapiState = { name: "disconnected" };
  #connected: Connected | undefined;
  #generation = 0;
  #poolUuid: string | undefined;
  #probing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get state(): XapiState {
    return this.#state;
  }

  get logins(): number {
    return this.#generation;
  }

  onState(listener: (state: XapiState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts connecting unless started; resolves and rejects as documented at Xapi.connect. */
  async connect(signal: AbortSignal | undefined): Promise<void> {
    if (this.#state.name === "disconnected") void this.#establish([]);
    await this.#wait(signal, false);
  }

  /** Resolves with the session once connected. @throws XoError NOT_CONNECTED, CLOSED, ABORTED */
  ready(signal?: AbortSignal): Promise<Connected> {
    if (this.#state.name === "disconnected")
      return Promise.reject(
        new XoError("NOT_CONNECTED", { pool: this.#options.label }),
      );
    return this.#wait(signal, true);
  }

  /** Call after SESSION_INVALID: logs in again. */
  renew(stale: Connected): void {
    if (!this.#invalidate(stale)) return;
    this.#options.logger.info(
      `${this.#options.label}: session lost, logging in again`,
    );
    void this.#establish([stale.address]);
  }

  /** Call after HOST_IS_SLAVE: connects to the coordinator that it names. */
  follow(stale: Connected, named: string): void {
    if (!this.#invalidate(stale)) return;
    const next = siblingAddress(stale.address, named);
    this.#options.logger.info(
      `${this.#options.label}: the coordinator is now ${named}`,
    );
    void this.#establish(next === undefined ? [] : [next]);
  }

  /** Call after HOST_STILL_BOOTING: logs in again after a pause. */
  backOff(stale: Connected, cause: Error): void {
    if (this.#invalidate(stale)) void this.#establish([], { pauseFor: cause });
  }

  /**
   * Call after a network error: checks whether the session is still valid, and
   * reconnects if not. Resolves when that is known. The state does not change
   * during the check, so one closed connection causes no state change.
   */
  probe(stale: Connected, cause: Error): Promise<void> {
    if (this.#connected !== stale) return Promise.resolve();
    this.#probing ??= this.#options.login
      .probe(stale, this.#ended.signal)
      .catch((error: unknown) => {
        this.#options.logger.warn(
          `${this.#options.label}: connection lost: ${cause.message}`,
        );
        const isSessionGone =
          error instanceof XapiError && error.code === "SESSION_INVALID";
        if (!this.#invalidate(stale)) return;
        if (isSessionGone) void this.#establish([stale.address]);
        else void this.#establish([], { failed: stale.address });
      })
      .finally(() => {
        this.#probing = undefined;
      });
    return this.#probing;
  }

  /** Logs out and rejects all waiting calls with CLOSED. */
  async disconnect(): Promise<void> {
    if (this.#state.name === "stopped") return;
    const connected = this.#connected;
    this.#connected = undefined;
    this.#ended.abort();
    this.#setState({ name: "stopped" });
    this.#rejectAll(this.#closed());
    if (connected !== undefined)
      await this.#options.login.close(
        connected,
        AbortSignal.timeout(LOGOUT_MS),
      );
  }

  /** @returns false: another call has already replaced the session */
  #invalidate(stale: Connected): boolean {
    if (this.#connected !== stale || this.#ended.signal.aborted) return false;
    this.#connected = undefined;
    return true;
  }

  /**
   * Tries all candidates, round after round, until one leads to a session.
   * @param first addresses tried before the candidates in the first round
   * @param why `pauseFor`: start with a pause, for this reason; `failed`: try this address last
   */
  async #establish(
    first: readonly Address[],
    why: { pauseFor?: Error; failed?: Address } = {},
  ): Promise<void> {
    let cause = why.pauseFor;
    for (let round = 0; !this.#ended.signal.aborted; round++) {
      if (cause !== undefined) await this.#pause(cause, Math.max(0, round - 1));
      if (this.#ended.signal.aborted) return;
      cause = await this.#round(round === 0 ? first : [], why.failed);
      if (cause === undefined) return;
      if (isPermanent(cause)) this.#rejectConnecting(cause);
    }
  }

  async #pause(cause: Error, round: number): Promise<void> {
    const { backoff, random, clock, logger, label } = this.#options;
    const delayMs = Math.round(backoffMs(cause, round, backoff, random()));
    this.#setState({ name: "backing-off", delayMs, cause });
    logger.warn(`${label}: ${cause.message}; next attempt in ${delayMs} ms`);
    await pause(clock, delayMs, this.#ended.signal);
  }

  /** @returns undefined: connected; else the reason */
  async #round(
    first: readonly Address[],
    failed: Address | undefined,
  ): Promise<Error | undefined> {
    const { candidates, clock } = this.#options;
    const reasons: Error[] = [];
    let rejected: Error | undefined;
    let isConnected = false;
    const tried = new Set<string>();
    await raceCandidates({
      addresses: [...first, ...candidates.list(failed)],
      clock,
      signal: this.#ended.signal,
      attempt: async (address, signal) => {
        const outcome = await this.#tryAddress(address, tried, signal);
        isConnected ||= outcome === "connected";
        if (outcome === "connected") return outcome;
        if (outcome === "tried" || signal.aborted) return "next";
        reasons.push(outcome);
        // All members share the password: trying each of them would lock the account sooner.
        if (!(outcome instanceof XapiError && isPermanent(outcome)))
          return "next";
        rejected = outcome;
        return "stop";
      },
    });
    if (isConnected || this.#ended.signal.aborted) return undefined;
    return rejected ?? commonReason(reasons);
  }

  /** Tries one address and follows HOST_IS_SLAVE to the coordinator. */
  async #tryAddress(
    start: Address,
    tried: Set<string>,
    signal: AbortSignal,
  ): Promise<Error | "connected" | "tried"> {
    let address = start;
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const url = addressUrl(address);
      if (tried.has(url) || signal.aborted || this.#connected !== undefined)
        return "tried";
      tried.add(url);
      this.#setState({ name: "connecting", address: addressName(address) });
      try {
        const open = await this.#options.login.open(address, signal);
        await this.#adopt(open, signal);
        return "connected";
      } catch (error) {
        const named =
          error instanceof XapiError && error.code === "HOST_IS_SLAVE"
            ? error.params[0]
            : undefined;
        const next =
          named === undefined ? undefined : siblingAddress(address, named);
        if (next === undefined) {
          if (isNetworkError(error))
            this.#options.logger.debug(
              `${this.#options.label}: ${(error as Error).message}`,
            );
          return error as Error;
        }
        address = next;
      }
    }
    return new XoError("NO_CANDIDATE", {
      reasons: "the members name each other as coordinator",
    });
  }

  /**
   * Makes a new session the current one.
   * @param signal aborted when another candidate was faster or the client is closed
   * @throws XoError if it belongs to another pool
   */
  async #adopt(open: OpenSession, signal: AbortSignal): Promise<void> {
    const { candidates, login, logger, label } = this.#options;
    if (signal.aborted || this.#connected !== undefined) {
      await login.close(open, AbortSignal.timeout(LOGOUT_MS));
      throw this.#closed();
    }
    const isOther =
      this.#poolUuid !== undefined && this.#poolUuid !== open.pool.uuid;
    if (isOther && !candidates.isConfigured(open.address)) {
      // A host that was ejected and is now a pool of its own.
      candidates.remove(open.address);
      await login.close(open, AbortSignal.timeout(LOGOUT_MS));
      throw new XoError("NO_CANDIDATE", {
        reasons: `${addressName(open.address)} belongs to another pool`,
      });
    }
    this.#poolUuid = open.pool.uuid;
    const generation = ++this.#generation;
    const connected: Connected = { ...open, generation };
    this.#connected = connected;
    candidates.prefer(open.address);
    const { transport, pool } = open;
    this.#setState({
      name: "connected",
      address: addressName(open.address),
      transport: transport.name,
      pool,
      generation,
    });
    logger.info(`${label}: connected`, { transport: transport.name });
    for (const waiter of this.#waiters) waiter.resolve(connected);
    this.#options.onConnected(connected);
  }

  #wait(
    signal: AbortSignal | undefined,
    isPatient: boolean,
  ): Promise<Connected> {
    if (this.#connected !== undefined) return Promise.resolve(this.#connected);
    if (this.#state.name === "stopped") return Promise.reject(this.#closed());
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        waiter.reject(
          signal?.reason instanceof Error
            ? signal.reason
            : new XoError("ABORTED", { what: "connecting" }),
        );
      };
      const leave = () => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        waitsThroughFailures: isPatient,
        resolve: (connected) => {
          leave();
          resolve(connected);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted === true) onAbort();
    });
  }

  #rejectConnecting(error: Error): void {
    for (const waiter of this.#waiters)
      if (!waiter.waitsThroughFailures) waiter.reject(error);
  }

  #rejectAll(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  #closed(): XoError {
    return new XoError("CLOSED", { what: this.#options.label });
  }

  #setState(state: XapiState): void {
    if (this.#state.name === "stopped") return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** The reason why no candidate leads to a session. */
function commonReason(reasons: readonly Error[]): Error {
  if (reasons.length <= 1)
    return reasons[0] ?? new XoError("NO_CANDIDATE", { reasons: "none" });
  const permanent = reasons.every(isPermanent) ? reasons[0] : undefined;
  return (
    permanent ??
    new XoError(
      "NO_CANDIDATE",
      { reasons: reasons.map(({ message }) => message).join("; ") },
      // Unreachable members may return; the permanent error needs an administrator.
      reasons.find(isPermanent),
    )
  );
}
