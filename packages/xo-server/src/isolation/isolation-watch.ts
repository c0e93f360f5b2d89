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

/** Interval of the questions while the database is unavailable, in ms. */
const ASK_MS = 2_000;
/** Equal answers in a row that change the state. */
const ANSWERS = 2;
/** The database has to be available for this time, in ms, before the server counts as connected again. */
const STABLE_MS = 3_000;

export interface IsolationWatchOptions {
  readonly messages: Pick<IsolationMessages, "sealRequest" | "openAnswer">;
  readonly store: Pick<Store, "state" | "onState">;
  readonly self: LeaseOwner;
  /** The other running servers, as of the last time that the database was available. */
  readonly peers: () => readonly Peer[];
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "debug" | "info" | "warn">;
}

/**
 * Finds out whether this server is the only one that does not reach the database. If it is
 * unavailable for all, no server is isolated: reads continue everywhere.
 *
 *   connected --unavailable, and twice in a row another server reaches it--> isolated
 *   isolated --available for STABLE_MS, or twice in a row no other server reaches it--> connected
 */
export class IsolationWatch {
  readonly #options: IsolationWatchOptions;
  readonly #stopped = new AbortController();
  readonly #stopListening: () => void;
  /** Aborted when the state of the database changes. */
  #changed = new AbortController();
  #isIsolated = false;

  constructor(options: IsolationWatchOptions) {
    this.#options = options;
    this.#stopListening = options.store.onState((state) => {
      this.#changed.abort();
      this.#changed = new AbortController();
      void (state === "unavailable" ? this.#ask() : this.#settle());
    });
  }

  get isIsolated(): boolean {
    return this.#isIsolated;
  }

  stop(): void {
    this.#stopped.abort();
    this.#stopListening();
  }

  /** Runs while the database is unavailable. Never rejects. */
  async #ask(): Promise<void> {
    const { clock } = this.#options;
    const signals = [this.#changed.signal, this.#stopped.signal];
    const signal = AbortSignal.any(signals);
    let last: boolean | undefined;
    let equal = 0;
    while (!signal.aborted) {
      const server = await this.#findConnected(signal);
      if (signal.aborted) return;
      const isOther = server !== undefined;
      equal = isOther === last ? equal + 1 : 1;
      last = isOther;
      if (equal >= ANSWERS) this.#set(isOther, server);
      await pause(clock, ASK_MS, signal);
    }
  }

  async #settle(): Promise<void> {
    const { signal } = this.#changed;
    await pause(this.#options.clock, STABLE_MS, signal, this.#stopped.signal);
    if (!signal.aborted) this.#set(false, undefined);
  }

  #set(isIsolated: boolean, server: string | undefined): void {
    if (isIsolated === this.#isIsolated) return;
    this.#isIsolated = isIsolated;
    const { logger, store } = this.#options;
    if (isIsolated)
      logger.warn(
        `this server does not reach the database, server ${server} does: it is not ready until the database is available again`,
      );
    else if (store.state === "available")
      logger.info("this server reaches the database again: it is ready");
    else
      logger.warn(
        "no other server is known to reach the database either: this one is ready, and serves what it has",
      );
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
