import { FramedStream } from "@xo-server/backup";
import { pause, type MonotonicClock } from "@xo-server/kit";
import type { LeaseOwner } from "@xo-server/store";
import type { IndirectConnection, IndirectRoute } from "@xo-server/xen-api";
import type { Peer } from "../cluster/membership.js";
import type { Logger } from "../log/logger.js";
import { upgradeAtPeer } from "../peers/peer-request.js";
import { LocalTunnels } from "./local-tunnels.js";
import {
  TUNNEL_HEADER,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
  type TunnelMessages,
} from "./tunnel-messages.js";

/** The next server is asked when the one before has refused, or has not answered within this time, in ms. */
const HEAD_START_MS = 500;

interface TunnelClientOptions {
  readonly messages: Pick<TunnelMessages, "sealRequest" | "openAnswer">;
  readonly self: LeaseOwner;
  /** The other running servers, also while the database is unavailable. */
  readonly peers: () => readonly Peer[];
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/** Since the start, except `open`. */
interface UsedTunnels {
  /** Tunnels that are open now. */
  readonly open: number;
  readonly opened: number;
  /** Connections for which no server could open a tunnel. */
  readonly failed: number;
}

/** Requests tunnels to members of pools from other servers of the database. */
export class TunnelClient {
  readonly #options: TunnelClientOptions;
  readonly #counts = { open: 0, opened: 0, failed: 0 };
  /** The server that has opened the last tunnel, by pool. */
  readonly #last = new Map<string, string>();

  readonly #local: LocalTunnels;

  constructor(options: TunnelClientOptions) {
    this.#options = options;
    this.#local = new LocalTunnels({
      ...options,
      connect: ({ poolId, member }, signal) =>
        this.#connect(poolId, member, signal),
    });
  }

  get figures(): UsedTunnels {
    return { ...this.#counts };
  }

  /** The way to the members of one pool. */
  routeOf(poolId: string): IndirectRoute {
    const { peers } = this.#options;
    return {
      get isAvailable() {
        return peers().length > 0;
      },
      connect: (member, signal) => this.#connect(poolId, member, signal),
      listen: (member) => this.#local.pathTo({ poolId, member }),
    };
  }

  /** Tunnels of other processes on this machine are closed. */
  stop(): Promise<void> {
    return this.#local.stop();
  }

  /** @throws Error why each server did not open a tunnel */
  async #connect(
    poolId: string,
    member: string,
    signal: AbortSignal,
  ): Promise<IndirectConnection> {
    const ended = new AbortController();
    const signals = AbortSignal.any([signal, ended.signal]);
    const { clock } = this.#options;
    const attempts: Promise<IndirectConnection>[] = [];
    let isOpen = false;
    for (const peer of this.#inOrder(poolId)) {
      const attempt = this.#request(peer, { poolId, member }, signals);
      attempts.push(attempt);
      const settled = new AbortController();
      attempt.then(
        () => {
          isOpen = true;
          settled.abort("settled");
        },
        () => {
          settled.abort("settled");
        },
      );
      await pause(clock, HEAD_START_MS, settled.signal, signals);
      if (isOpen || signals.aborted) break;
    }
    try {
      const first = await Promise.any(attempts);
      this.#onOpened(poolId, first);
      ended.abort();
      for (const attempt of attempts) void closeOther(attempt, first);
      return first;
    } catch (error) {
      throw this.#failed(error as AggregateError);
    }
  }

  #onOpened(poolId: string, { socket, via }: IndirectConnection): void {
    this.#last.set(poolId, via);
    this.#counts.open++;
    this.#counts.opened++;
    socket.once("close", () => {
      this.#counts.open--;
    });
  }

  #failed({ errors }: AggregateError): Error {
    this.#counts.failed++;
    const reasons = errors.map((error) => (error as Error).message);
    return new Error(`no other server opens a tunnel: ${reasons.join("; ")}`);
  }

  /** The server that has opened the last tunnel first: connections of a pool take the same way. */
  #inOrder(poolId: string): readonly Peer[] {
    const last = this.#last.get(poolId);
    return this.#options
      .peers()
      .toSorted((a, b) => Number(b.name === last) - Number(a.name === last));
  }

  async #request(
    peer: Peer,
    { poolId, member }: { readonly poolId: string; readonly member: string },
    signal: AbortSignal,
  ): Promise<IndirectConnection> {
    const { messages, self, clock, logger } = this.#options;
    const { answerId, sealed } = messages.sealRequest({
      poolId,
      member,
      isFramed: true,
      from: self.owner,
      to: peer.instance,
    });
    const request = { path: TUNNEL_PATH, sealed, clock, signal };
    try {
      const { socket, headers } = await upgradeAtPeer(
        peer,
        request,
        TUNNEL_PROTOCOL,
      );
      const header = String(headers[TUNNEL_HEADER] ?? "");
      const answer = messages.openAnswer(header, answerId);
      if (answer?.member !== member) {
        socket.destroy();
        throw new Error("its answer is not authentic");
      }
      if (answer.isFramed !== true) return { socket, via: peer.name };
      const framed = new FramedStream(socket);
      // Until something listens, and after it has ended.
      framed.on("error", () => undefined);
      return { socket: framed, via: peer.name };
    } catch (error) {
      const { message } = error as Error;
      if (!signal.aborted)
        logger.debug(
          `${poolId}: no tunnel to ${member} through server ${peer.name}: ${message}`,
        );
      throw new Error(`${peer.name}: ${message}`, { cause: error });
    }
  }
}

/** Closes a tunnel that another server has opened too late. */
async function closeOther(
  attempt: Promise<IndirectConnection>,
  used: IndirectConnection,
): Promise<void> {
  // A failure is the end of an attempt that is not needed.
  const other = await attempt.catch(() => undefined);
  if (other !== used) other?.socket.destroy();
}
