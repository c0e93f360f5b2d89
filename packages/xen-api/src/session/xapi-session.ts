import { type Logger, type MonotonicClock, pause } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import { raceCandidates } from "./candidate-race.js";
import type { Candidates } from "./candidates.js";
import {
  addressName,
  addressUrl,
  siblingAddress,
  type Address,
} from "../http/address.js";
import type { Login, OpenSession } from "./login.js";
import {
  backoffMs,
  isPermanent,
  isNetworkError,
  transientRejectionMs,
  type BackoffLimits,
} from "../rpc/retry-policy.js";
import { SessionWaiters } from "./session-waiters.js";
import type { XapiState } from "../xapi.js";

/** An open session with the number of its login. */
export interface Connected extends OpenSession {
  readonly generation: number;
}

interface SessionOptions {
  readonly login: Login;
  readonly candidates: Candidates;
  readonly backoff: BackoffLimits;
  readonly clock: MonotonicClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly label: string;
  readonly onConnected: (connected: Connected) => void;
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
export class XapiSession {
  readonly #options: SessionOptions;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<(state: XapiState) => void>();
  readonly #waiters = new SessionWaiters<Connected>();
  #state: XapiState = { name: "disconnected" };
  #connected: Connected | undefined;
  #generation = 0;
  /** Failed rounds since the last login: passing rejections are its first ones. */
  #rejections = 0;
  #failure: Error | undefined;
  /** Reason of the last pause; undefined while connected. */
  #reported: string | undefined;
  #poolUuid: string | undefined;
  #probing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get state(): XapiState {
    return this.#state;
  }

  /** Undefined: not connected. */
  get current(): Connected | undefined {
    return this.#connected;
  }

  /** Why there is no connection; undefined: connected, or no attempt has failed yet. */
  get failure(): Error | undefined {
    return this.#failure;
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
    const next = this.#coordinatorNamed(stale.address, named);
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
        else {
          this.#failure = cause;
          void this.#establish([], { failed: stale.address });
        }
      })
      .finally(() => {
        this.#probing = undefined;
      });
    return this.#probing;
  }

  /** Logs out another session of the pool, given by its reference. @throws XapiError, XoError */
  async endOther(session: string, signal: AbortSignal): Promise<void> {
    const connected = await this.ready(signal);
    await this.#options.login.end({ ...connected, session }, signal);
  }

  /** Logs out and rejects all waiting calls with CLOSED. */
  async disconnect(): Promise<void> {
    if (this.#state.name === "stopped") return;
    const connected = this.#connected;
    this.#connected = undefined;
    this.#ended.abort();
    this.#setState({ name: "stopped" });
    this.#waiters.rejectAll(this.#closed());
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
      this.#failure = cause;
      if (isPermanent(cause)) this.#waiters.rejectImpatient(cause);
    }
  }

  async #pause(cause: Error, round: number): Promise<void> {
    const { backoff, random, clock, logger, label } = this.#options;
    const passingMs =
      this.#generation > 0
        ? transientRejectionMs(cause, this.#rejections++)
        : undefined;
    const delayMs = Math.round(
      passingMs ?? backoffMs(cause, round, backoff, random()),
    );
    const isPassing = passingMs !== undefined;
    this.#setState({ name: "backing-off", delayMs, cause, isPassing });
    // A pool that stays unreachable is reported once.
    const level = cause.message === this.#reported ? "debug" : "warn";
    this.#reported = cause.message;
    logger[level](`${label}: ${cause.message}; next attempt in ${delayMs} ms`);
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
      this.#setConnecting(address);
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
          named === undefined
            ? undefined
            : this.#coordinatorNamed(address, named);
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

  /** @returns undefined: credentials must not be sent to this address */
  #coordinatorNamed(by: Address, named: string): Address | undefined {
    const { candidates, logger, label } = this.#options;
    const next = siblingAddress(by, named);
    if (next !== undefined && candidates.mayFollow(next)) return next;
    logger.warn(
      `${label}: ${addressName(by)} names ${named} as coordinator, which is not the address of a known host of the pool; if it is right, add it to the addresses of this server`,
    );
    return undefined;
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
      // The host was ejected and is a separate pool now.
      candidates.remove(open.address);
      await login.close(open, AbortSignal.timeout(LOGOUT_MS));
      throw new XoError("NO_CANDIDATE", {
        reasons: `${addressName(open.address)} belongs to another pool`,
      });
    }
    this.#poolUuid = open.pool.uuid;
    const generation = ++this.#generation;
    this.#rejections = 0;
    this.#failure = undefined;
    this.#reported = undefined;
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
    this.#waiters.resolveAll(connected);
    this.#options.onConnected(connected);
  }

  #wait(
    signal: AbortSignal | undefined,
    waitsThroughFailures: boolean,
  ): Promise<Connected> {
    if (this.#connected !== undefined) return Promise.resolve(this.#connected);
    if (this.#state.name === "stopped") return Promise.reject(this.#closed());
    return this.#waiters.wait(signal, waitsThroughFailures);
  }

  #closed(): XoError {
    return new XoError("CLOSED", { what: this.#options.label });
  }

  #setConnecting(to: Address): void {
    const cause = this.#failure;
    const address = addressName(to);
    this.#setState({
      name: "connecting",
      address,
      ...(cause && { cause }),
    });
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
