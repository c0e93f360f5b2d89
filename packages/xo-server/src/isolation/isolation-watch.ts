import { pause, type MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner, Store } from "@xo-server/store";
import type { Peer } from "../cluster/membership.js";
import type { Logger } from "../log/logger.js";
import { requestFromPeer } from "../peers/peer-request.js";
import {
  ISOLATION_HEADER,
  ISOLATION_PATH,
  type IsolationMessages,
} from "./isolation-messages.js";

/** Interval of the checks, in ms. */
const CHECK_MS = 2_000;
/** Equal results in a row that change the state. */
const RESULTS = 2;

interface IsolationWatchOptions {
  readonly messages: Pick<IsolationMessages, "sealRequest" | "openAnswer">;
  readonly store: Pick<Store, "state">;
  readonly self: LeaseOwner;
  /** The other running servers, as of the last heartbeat. */
  readonly peers: () => readonly Peer[];
  /** Time since the last heartbeat of this server that was answered, in ms. */
  readonly databaseSilentMs: () => number;
  /** After this time the database counts as not reached, in ms: a query whose packets are dropped fails later. */
  readonly silentMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "debug" | "info" | "warn">;
}

/**
 * Finds out whether this server is the only one that does not reach the database. If it is
 * unavailable for all, no server is isolated: reads continue everywhere.
 *
 *   connected --twice in a row: not reached, but by another server--> isolated
 *   isolated --twice in a row: reached, or by no other server either--> connected
 */
export class IsolationWatch {
  readonly #options: IsolationWatchOptions;
  readonly #stopped = new AbortController();
  #isIsolated = false;

  constructor(options: IsolationWatchOptions) {
    this.#options = options;
  }

  get isIsolated(): boolean {
    return this.#isIsolated;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    let last = false;
    let equal = 0;
    while (!signal.aborted) {
      const server = this.#isLost
        ? await this.#findConnected(signal)
        : undefined;
      const isIsolated = server !== undefined;
      equal = isIsolated === last ? equal + 1 : 1;
      last = isIsolated;
      if (equal >= RESULTS && !signal.aborted) this.#set(isIsolated, server);
      await pause(clock, CHECK_MS, signal);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  get #isLost(): boolean {
    const { store, databaseSilentMs, silentMs } = this.#options;
    return store.state === "unavailable" || databaseSilentMs() > silentMs;
  }

  #set(isIsolated: boolean, server: string | undefined): void {
    if (isIsolated === this.#isIsolated) return;
    this.#isIsolated = isIsolated;
    const { logger } = this.#options;
    if (isIsolated)
      logger.warn(
        `this server does not reach the database, server ${server} does: it is not ready until the database is available again`,
      );
    else if (this.#isLost)
      logger.warn(
        "no other server is known to reach the database either: this one is ready again, for reads",
      );
    else
      logger.info("this server reaches the database again: it is ready again");
  }

  /** @returns the name of another server that reaches the database; undefined: none is known. Never rejects */
  async #findConnected(signal: AbortSignal): Promise<string | undefined> {
    const asked = this.#options
      .peers()
      .map((peer) => this.#isConnected(peer, signal));
    return (await Promise.all(asked)).find((name) => name !== undefined);
  }

  /** @returns the name of the server; undefined: it does not reach the database, or has not answered. Never rejects */
  async #isConnected(
    peer: Peer,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { messages, self, clock, logger } = this.#options;
    const { answerId, sealed } = messages.sealRequest({
      from: self.owner,
      to: peer.instance,
    });
    try {
      const request = { path: ISOLATION_PATH, sealed, clock, signal };
      const response = await requestFromPeer(peer, request);
      response.resume();
      const header = String(response.headers[ISOLATION_HEADER] ?? "");
      const answer = messages.openAnswer(header, answerId);
      return answer?.isAvailable === true ? peer.name : undefined;
    } catch (error) {
      logger.debug(
        `server ${peer.name} has not answered whether it reaches the database`,
        { error },
      );
      return undefined;
    }
  }
}
