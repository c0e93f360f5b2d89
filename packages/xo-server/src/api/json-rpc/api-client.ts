import type { WallClock } from "@xo-server/kit";
import { XoError, errorTable } from "@xo-server/model";
import type { RawData, WebSocket } from "ws";
import type { JsonRpcHandler } from "./json-rpc.js";
import type { Logger } from "../../log/logger.js";
import type { Client } from "../../auth/sessions/client.js";
import { toCallContext, type Permission } from "../../operations/operation.js";
import type { Session } from "../../auth/sessions/session.js";
import { isDeeperThan } from "../http/json-depth.js";
import type { LimitHits } from "../../limits/limit-hits.js";
import type { SlowClient } from "../../limits/unsent-bytes.js";
import { SendQueue, type CorkableConnection } from "./send-queue.js";
import type { RateLimits } from "../../limits/rate-limits.js";
import type { LimitedSocket, SocketLimits } from "./socket-limits.js";
import { TokenBucket } from "../../limits/token-bucket.js";

interface ApiClientOptions {
  readonly socket: WebSocket;
  /** The connection below the WebSocket. */
  readonly connection?: CorkableConnection;
  /** IP address of the client, without the port. */
  readonly address: string;
  /** Key of the address in rate limits. */
  readonly rateKey: string;
  readonly jsonRpc: JsonRpcHandler;
  readonly clock: WallClock;
  readonly logger: Logger;
  /** Permission of anonymous clients. */
  readonly permission: Permission;
  readonly maxMessagesPerSecond: number;
  readonly maxBufferedBytes: number;
  readonly maxDepth: number;
  /** Rate limits that all clients of a user share, or all anonymous clients of an address. */
  readonly userRates: RateLimits;
  readonly limits: Pick<SocketLimits, "setAnonymous">;
  readonly hits: LimitHits;
  /** Called when something is sent while the client has much unread. Default: nothing. */
  readonly onBehind?: () => void;
  /**
   * Called when a call has ended after the connection was closed: it may have signed in or
   * subscribed the client, which has disconnected. Default: nothing.
   */
  readonly onLateEnd?: () => void;
}

/** Close codes of RFC 6455, 7.4.1. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;

/** Length of the shortest request, to estimate the size of a batch. */
const MIN_REQUEST_CHARACTERS = 32;
const MAX_BATCH = 100;

/** How long a connection whose session has ended waits for the responses to its calls, in ms. */
const ANSWER_MS = 5_000;

/** Messages of one client that are handled before the event loop is yielded. */
const MESSAGES_PER_TURN = 64;

/**
 * One WebSocket connection of the API. Messages above the rate limit are delayed,
 * not rejected: the socket is paused meanwhile.
 */
export class ApiClient implements Client, LimitedSocket, SlowClient {
  readonly rateKey: string;
  readonly #socket: WebSocket;
  readonly #options: ApiClientOptions;
  readonly #bucket: TokenBucket;
  readonly #sendQueue: SendQueue;
  /** Messages received before the socket was paused: those of one chunk at most. */
  readonly #waiting: string[] = [];
  readonly #disconnected = new AbortController();
  #session: Session | undefined;
  #timer: unknown;
  /** Number of calls without a response. */
  #calls = 0;
  /** Set while the connection waits for the responses to its calls before it is closed. */
  #closing: { readonly reason: string; readonly timer: unknown } | undefined;
  #remainingInTurn = MESSAGES_PER_TURN;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#bucket = new TokenBucket(options.maxMessagesPerSecond, () =>
      options.clock.now(),
    );
    const { socket, connection: wire, clock, maxBufferedBytes } = options;
    this.#sendQueue = new SendQueue({
      socket,
      connection: wire,
      clock,
      maxBufferedBytes,
      onStalled: () => {
        this.closeStalled();
      },
      ...(options.onBehind === undefined ? {} : { onBehind: options.onBehind }),
    });
    this.rateKey = options.rateKey;
    this.#socket.on("message", (data, isBinary) => {
      this.#onMessage(data, isBinary);
    });
    this.#socket.on("close", () => {
      this.#disconnected.abort();
      this.#waiting.length = 0;
      options.clock.clearTimeout(this.#timer);
      options.clock.clearTimeout(this.#closing?.timer);
    });
    this.#socket.on("error", (error) => {
      if (isTooLarge(error)) options.hits.count("message_size");
      options.logger.debug(`${options.address}: ${error.message}`);
    });
  }

  get disconnected(): AbortSignal {
    return this.#disconnected.signal;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  setSession(session: Session | undefined): void {
    this.#session = session;
    this.#options.limits.setAnonymous(this, session === undefined);
  }

  get unsentBytes(): number {
    return this.#sendQueue.unsentBytes;
  }

  get owner(): string {
    return this.#session?.userId ?? this.rateKey;
  }

  trySend(message: Buffer): boolean {
    if (this.#closing !== undefined) return false;
    return this.#sendQueue.trySend(message);
  }

  close(
    reason = "the server is stopping",
    { answersFirst = false } = {},
  ): void {
    if (!answersFirst || this.#calls === 0) {
      this.#socket.close(GOING_AWAY, reason);
      return;
    }
    if (this.#closing !== undefined) return;
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => {
      this.close(reason);
    }, ANSWER_MS);
    this.#closing = { reason, timer };
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (isBinary) {
      this.#socket.close(UNSUPPORTED_DATA, "text frames only");
      return;
    }
    // One Buffer, as `binaryType` has its default.
    this.#waiting.push((data as Buffer).toString("utf8"));
    if (this.#timer === undefined && this.#remainingInTurn > 0) this.#drain();
  }

  #drain(): void {
    this.#timer = undefined;
    let waitMs = 0;
    while (this.#waiting.length > 0 && this.#remainingInTurn > 0) {
      waitMs = this.#takeTokens(costOf(this.#waiting[0]!));
      if (waitMs > 0) break;
      this.#remainingInTurn--;
      void this.#handle(this.#waiting.shift()!);
    }
    if (this.#remainingInTurn === 0) {
      this.#endTurn();
      return;
    }
    if (waitMs === 0) {
      this.#socket.resume();
      return;
    }
    this.#options.hits.count("message_rate");
    this.#socket.pause();
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#drain();
    }, waitMs);
  }

  #endTurn(): void {
    this.#socket.pause();
    setImmediate(() => {
      this.#remainingInTurn = MESSAGES_PER_TURN;
      this.#drain();
    });
  }

  /**
   * Takes tokens from the bucket of the client and from the shared one: from both,
   * or from neither.
   * @returns ms to wait; 0: the tokens were taken
   */
  #takeTokens(cost: number): number {
    const { userRates } = this.#options;
    const shared = userRates.bucketOf(this.owner);
    const waitMs = Math.max(this.#bucket.waitMs(cost), shared.waitMs(cost));
    if (waitMs === 0) {
      this.#bucket.take(cost);
      shared.take(cost);
    }
    return waitMs;
  }

  async #handle(text: string): Promise<void> {
    if (this.#session !== undefined && this.#session.user() === undefined) {
      // Xen Orchestra closes the connection without a response.
      this.#socket.close(POLICY_VIOLATION, "session expired");
      return;
    }
    const {
      jsonRpc: server,
      permission,
      address,
      maxDepth,
      hits,
    } = this.#options;
    if (isDeeperThan(text, maxDepth)) {
      hits.count("depth");
      this.#sendQueue.send(toDepthError(maxDepth));
      return;
    }
    this.#session?.used?.();
    let settle = () => undefined as void;
    const answered = new Promise<void>((resolve) => (settle = resolve));
    const context = toCallContext(this, address, permission);
    this.#calls++;
    const answer = await server.handle(text, { ...context, answered });
    this.#calls--;
    if (answer !== undefined) this.#sendQueue.send(answer);
    settle();
    if (this.disconnected.aborted) this.#options.onLateEnd?.();
    if (this.#calls === 0 && this.#closing !== undefined)
      this.close(this.#closing.reason);
  }

  closeStalled(): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const { logger, address, hits } = this.#options;
    hits.count("slow_reader");
    logger.warn(
      `closing the connection of ${address}: responses are not being read`,
    );
    this.#socket.close(POLICY_VIOLATION, "responses are not being read");
    this.#socket.terminate();
  }
}

/** Upper bound of the number of requests in a message. */
function costOf(text: string): number {
  if (!/^\s*\[/.test(text)) return 1;
  const most = Math.ceil(text.length / MIN_REQUEST_CHARACTERS);
  return Math.min(most, MAX_BATCH);
}

function toDepthError(limit: number): string {
  const { code, message, data } = new XoError("INVALID_REQUEST", {
    reason: `the message is nested deeper than ${limit} levels`,
  });
  const error = {
    code: errorTable[code].jsonRpc,
    message,
    data: { code, ...data },
  };
  return JSON.stringify({ jsonrpc: "2.0", id: null, error });
}

function isTooLarge(error: Error & { code?: unknown }): boolean {
  return (
    error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" ||
    error.code === "WS_ERR_TOO_MANY_BUFFERED_PARTS"
  );
}
