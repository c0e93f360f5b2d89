import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { FramedStream } from "@xo-server/backup";
import type { MonotonicClock, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner } from "@xo-server/store";
import type { Xapi } from "@xo-server/xen-api";
import type { Logger } from "../log/logger.js";
import { PeerAuthenticator } from "../peers/peer-authenticator.js";
import type { TunnelMessages, TunnelRequest } from "./tunnel-messages.js";
import { Tunnel } from "./tunnel.js";

/** Tunnels that are open at a time; further requests are refused. */
export const MAX_TUNNELS = 512;
/** A member is reached within this time, in ms, or the other server asks the next one. */
const CONNECT_MS = 2_500;
/** A tunnel on which nothing has passed for this time, in ms, is closed within twice this time. */
export const IDLE_MS = 3_600_000;

export interface TunnelServerOptions {
  readonly messages: Pick<TunnelMessages, "openRequest" | "sealAnswer">;
  readonly self: LeaseOwner;
  /** Client of a pool. @throws XoError NOT_CONNECTED */
  readonly xapiOf: (poolId: string) => Pick<Xapi, "openMember" | "label">;
  readonly clock: MonotonicClock;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** A connection to a member that waits for the other server. */
interface OpenTunnel {
  /** The sealed answer. */
  readonly answer: string;
  /** Passes bytes between the member and the other server until one of them ends the connection. */
  attach(socket: Duplex, head: Buffer): void;
  /** The other server is not connected any more. */
  drop(): void;
}

/** Since the start, except `open`. */
interface ServedTunnels {
  /** Tunnels that are open now. */
  readonly open: number;
  readonly opened: number;
  readonly bytes: number;
  /** Requests that were not authentic. */
  readonly refused: number;
  /** Members that could not be reached, or were not known. */
  readonly failed: number;
}

/**
 * Connects other servers of the database to members of pools that they cannot reach. Only to
 * members that this server knows, and reaches directly.
 */
export class TunnelServer {
  readonly #options: TunnelServerOptions;
  readonly #authenticator: PeerAuthenticator<TunnelRequest>;
  readonly #tunnels = new Set<Tunnel>();
  readonly #counts = { opened: 0, failed: 0 };
  /** Of tunnels that have ended. */
  #bytes = 0;
  #connecting = 0;
  #timer: unknown;
  #isStopped = false;

  constructor(options: TunnelServerOptions) {
    this.#options = options;
    this.#authenticator = new PeerAuthenticator({
      ...options,
      what: "a tunnel to a pool",
    });
  }

  get figures(): ServedTunnels {
    let bytes = this.#bytes;
    for (const tunnel of this.#tunnels) bytes += tunnel.bytes;
    const { refused } = this.#authenticator;
    return { ...this.#counts, open: this.#tunnels.size, bytes, refused };
  }

  /**
   * @param sealed as TunnelMessages.sealRequest has created it
   * @param address of the client
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS, QUEUE_FULL, CLOSED, NOT_CONNECTED, UNSUPPORTED, CONNECTION_*, UNREACHABLE
   */
  async open(sealed: string, address: string): Promise<OpenTunnel> {
    const request = await this.#authenticator.authenticate(sealed, address);
    if (this.#isStopped) throw new XoError("CLOSED", { what: "this server" });
    const size = this.#tunnels.size + this.#connecting;
    if (size >= MAX_TUNNELS)
      throw new XoError("QUEUE_FULL", { what: "tunnels", size });
    this.#connecting++;
    try {
      const member = await this.#connect(request);
      const { messages } = this.#options;
      const isFramed = request.isFramed === true;
      const content = { member: request.member, isFramed };
      return {
        answer: messages.sealAnswer(content, request.answerId),
        attach: (socket, head) => {
          if (head.length > 0) socket.unshift(head);
          const client = isFramed ? new FramedStream(socket) : socket;
          this.#attach(new Tunnel(member, client), request);
        },
        drop: () => member.destroy(),
      };
    } catch (error) {
      this.#counts.failed++;
      throw error;
    } finally {
      this.#connecting--;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    for (const tunnel of this.#tunnels) tunnel.close();
  }

  async #connect({ poolId, member }: TunnelRequest): Promise<Socket> {
    const { clock, xapiOf } = this.#options;
    const limit = new AbortController();
    const timer = clock.setTimeout(() => {
      limit.abort();
    }, CONNECT_MS);
    try {
      return await xapiOf(poolId).openMember(member, limit.signal);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  #attach(tunnel: Tunnel, { poolId, member, from }: TunnelRequest): void {
    const { logger, xapiOf } = this.#options;
    this.#tunnels.add(tunnel);
    this.#counts.opened++;
    const name = `tunnel of server ${from} to ${member} (${xapiOf(poolId).label})`;
    logger.debug(`${name} is open`);
    tunnel.onClose = () => {
      this.#tunnels.delete(tunnel);
      this.#bytes += tunnel.bytes;
      logger.debug(`${name} has ended after ${tunnel.bytes} bytes`);
    };
    if (this.#isStopped) tunnel.close();
    this.#timer ??= this.#watchIdle();
  }

  #watchIdle(): unknown {
    return this.#options.clock.setTimeout(() => {
      for (const tunnel of this.#tunnels) tunnel.closeIfIdle();
      this.#timer = this.#tunnels.size > 0 ? this.#watchIdle() : undefined;
    }, IDLE_MS);
  }
}
