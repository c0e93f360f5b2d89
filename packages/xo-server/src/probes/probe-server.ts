import type { MonotonicClock, WallClock } from "@xo-server/kit";
import type { LeaseOwner } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { PeerAuthenticator } from "../peers/peer-authenticator.js";
import type { HostProber } from "./host-prober.js";
import type { ProbeMessages, ProbeRequest } from "./probe-messages.js";
import { toPublicProbe } from "./public-probe.js";

/** A host is found within this time, in ms: the other server waits for 3 s. */
export const PROBE_MS = 2_500;

interface ProbeServerOptions {
  readonly messages: Pick<ProbeMessages, "openRequest" | "sealAnswer">;
  readonly prober: Pick<HostProber, "probe">;
  readonly self: LeaseOwner;
  readonly clock: MonotonicClock;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/**
 * Probes hosts for other servers of the database, which cannot reach them. They get what an
 * administrator who calls `server.probe` on this server gets; bytes are not passed on.
 */
export class ProbeServer {
  readonly #options: ProbeServerOptions;
  readonly #authenticator: PeerAuthenticator<ProbeRequest>;

  constructor(options: ProbeServerOptions) {
    this.#options = options;
    this.#authenticator = new PeerAuthenticator({
      ...options,
      what: "a probe of a host",
    });
  }

  /**
   * @param sealed as ProbeMessages.sealRequest has created it
   * @param address of the client
   * @returns the sealed answer
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS, QUEUE_FULL, CONFIG_INVALID; ABORTED: not found in time
   */
  async answer(sealed: string, address: string): Promise<string> {
    const request = await this.#authenticator.authenticate(sealed, address);
    const { messages, logger, clock, prober } = this.#options;
    const { host, proxy, from, answerId } = request;
    logger.info(`probing ${host} for server ${from}`);
    const limit = new AbortController();
    const timer = clock.setTimeout(() => {
      limit.abort();
    }, PROBE_MS);
    try {
      const found = await prober.probe({
        host,
        signal: limit.signal,
        timeoutMs: PROBE_MS,
        ...(proxy === undefined ? {} : { proxy }),
      });
      return messages.sealAnswer(toPublicProbe(found), answerId);
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
