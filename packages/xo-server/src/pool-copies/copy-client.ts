import { pipeline } from "node:stream";
import {
  snapshotLayout,
  type FetchCopy,
  type SnapshotCopy,
} from "@xo-server/inventory";
import type { MonotonicClock } from "@xo-server/kit";
import type { ClusterServer, LeaseOwner, Store } from "@xo-server/store";
import type { Peer } from "../cluster/membership.js";
import type { Logger } from "../log/logger.js";
import { requestFromPeer } from "../peers/peer-request.js";
import { PeerRefusal } from "../peers/refusal.js";
import { COPY_HEADER, COPY_PATH, type CopyMessages } from "./copy-messages.js";
import { CopyTransfer } from "./copy-transfer.js";

/** A server that did not answer, or whose copy was not usable, gets no requests for this time, in ms. */
const AVOID_MS = 60_000;
/** The list of servers is read again after this time, in ms. */
const SERVERS_MS = 1_000;
const MAX_COPY_BYTES = 4 * 2 ** 30;

interface CopyClientOptions {
  readonly store: {
    readonly clusterServers: Pick<Store["clusterServers"], "list">;
  };
  readonly messages: Pick<CopyMessages, "sealRequest" | "openAnswer">;
  readonly self: LeaseOwner;
  /** A server without a heartbeat for this time gets no requests, in ms. */
  readonly silentMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/** Counts since the start. */
interface FetchedCopies {
  readonly fetched: number;
  /** Servers that did not answer, or whose copy was not usable. */
  readonly failed: number;
}

/** Fetches snapshots of pools from other servers of the database. */
export class CopyClient {
  readonly #options: CopyClientOptions;
  readonly #counts = { fetched: 0, failed: 0 };
  /** Until when servers get no requests, by instance. */
  readonly #avoided = new Map<string, number>();
  #peers: { readonly at: number; readonly list: Promise<Peer[]> } | undefined;
  /** Requests are spread over the servers. */
  #turn = 0;

  constructor(options: CopyClientOptions) {
    this.#options = options;
  }

  get figures(): FetchedCopies {
    return { ...this.#counts };
  }

  /** Asks one server after another. */
  readonly fetch: FetchCopy = async ({ poolId, label }, load, signal) => {
    const { logger, clock } = this.#options;
    const reasons: string[] = [];
    for (const peer of await this.#nextPeers()) {
      const startedAt = clock.now();
      try {
        const copy = await this.#request(peer, poolId, signal);
        await load(copy);
        this.#counts.fetched++;
        logger.info(
          `${label}: ${copy.objects} objects copied from server ${peer.name} (${copy.bytes} bytes) in ${Math.round(clock.now() - startedAt)} ms`,
        );
        return;
      } catch (error) {
        if (signal.aborted) return;
        const reason = `${peer.name}: ${(error as Error).message}`;
        reasons.push(reason);
        if (!(error instanceof PeerRefusal))
          this.#onFailure(peer, label, reason);
      }
    }
    if (reasons.length > 0)
      logger.info(
        `${label}: listing the pool, no copy from another server (${reasons.join("; ")})`,
      );
  };

  #onFailure({ instance }: Peer, label: string, reason: string): void {
    const { clock, logger } = this.#options;
    this.#counts.failed++;
    this.#avoided.set(instance, clock.now() + AVOID_MS);
    logger.warn(
      `${label}: no copy from ${reason}; no further requests to this server for ${AVOID_MS / 1000} s`,
    );
  }

  /** Running servers, those that do not leave first. Never rejects. */
  async #nextPeers(): Promise<readonly Peer[]> {
    const { clock } = this.#options;
    const now = clock.now();
    if (this.#peers === undefined || this.#peers.at + SERVERS_MS <= now)
      this.#peers = { at: now, list: this.#readPeers() };
    const all = await this.#peers.list;
    const usable = all.filter(
      ({ instance }) => (this.#avoided.get(instance) ?? 0) <= now,
    );
    const first = this.#turn++ % Math.max(1, usable.length);
    return [...usable.slice(first), ...usable.slice(0, first)].toSorted(
      (a, b) => leaving(a) - leaving(b),
    );
  }

  async #readPeers(): Promise<Peer[]> {
    const { store, self, silentMs } = this.#options;
    // The database is unreachable: pools are listed.
    const servers: ClusterServer[] = await store.clusterServers
      .list()
      .catch(() => []);
    const own = servers.find(({ name }) => name === self.owner);
    return servers
      .filter((server): server is Peer => server.address !== undefined)
      .filter(
        ({ name, address, ...server }) =>
          name !== self.owner &&
          server.silentMs < silentMs &&
          // An address that only this machine can use, such as 127.0.0.1.
          address !== own?.address,
      );
  }

  /** @throws PeerRefusal, Error */
  async #request(
    peer: Peer,
    poolId: string,
    signal: AbortSignal,
  ): Promise<SnapshotCopy> {
    const { messages, self, clock } = this.#options;
    const { answerId, sealed } = messages.sealRequest({
      poolId,
      layout: snapshotLayout,
      from: self.owner,
      to: peer.instance,
    });
    const response = await requestFromPeer(peer, {
      path: COPY_PATH,
      sealed,
      clock,
      signal,
    });
    const answer = response.headers[COPY_HEADER];
    if (typeof answer !== "string") {
      response.destroy();
      throw new PeerRefusal("it does not know requests for copies");
    }
    const copy = messages.openAnswer(answer, answerId);
    if (copy === undefined || copy.bytes > MAX_COPY_BYTES) {
      response.destroy();
      throw new Error(
        copy === undefined
          ? "its answer is not authentic"
          : `the copy has ${copy.bytes} bytes`,
      );
    }
    const body = new CopyTransfer({ bytes: copy.bytes, clock });
    // The reader of the body gets the error.
    pipeline(response, body, () => undefined);
    return { ...copy, body };
  }
}

function leaving({ leavingAt }: Peer): number {
  return leavingAt === undefined ? 0 : 1;
}
