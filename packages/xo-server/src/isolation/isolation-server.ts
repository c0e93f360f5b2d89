import { pause, type MonotonicClock, type WallClock } from "@xo-server/kit";
import type { LeaseOwner, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { PeerAuthenticator } from "../peers/peer-authenticator.js";
import type { PeerRequestBase } from "../peers/peer-messages.js";
import type { IsolationMessages } from "./isolation-messages.js";

/** A query without an answer within this time, in ms, counts as failed. */
const QUERY_MS = 2_000;

interface IsolationServerOptions {
  readonly messages: Pick<IsolationMessages, "openRequest" | "sealAnswer">;
  readonly store: {
    readonly clusterServers: Pick<Store["clusterServers"], "readClientAddress">;
  };
  readonly self: LeaseOwner;
  readonly clock: MonotonicClock;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Answers whether this server reaches the database. */
export class IsolationServer {
  readonly #options: IsolationServerOptions;
  readonly #authenticator: PeerAuthenticator<PeerRequestBase>;

  constructor(options: IsolationServerOptions) {
    this.#options = options;
    this.#authenticator = new PeerAuthenticator({
      ...options,
      what: "the state of the database",
    });
  }

  /**
   * @param sealed as IsolationMessages.sealRequest has created it
   * @param address of the client
   * @returns the sealed answer
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS
   */
  async answer(sealed: string, address: string): Promise<string> {
    const request = await this.#authenticator.authenticate(sealed, address);
    const { messages } = this.#options;
    const isAvailable = await this.#isAvailable();
    return messages.sealAnswer({ isAvailable }, request.answerId);
  }

  /** A state may be old: a cut connection is noticed only when a query fails. */
  #isAvailable(): Promise<boolean> {
    const { store, clock } = this.#options;
    return Promise.race([
      store.clusterServers.readClientAddress().then(
        () => true,
        () => false,
      ),
      pause(clock, QUERY_MS).then(() => false),
    ]);
  }
}
