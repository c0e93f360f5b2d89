import type { RawData, WebSocket } from "ws";
import type { Clock } from "../clock.js";
import type { JsonRpcDoor } from "./json-rpc.js";
import type { Logger } from "../log/logger.js";
import type { Client } from "../operations/client.js";
import { toCallContext, type Permission } from "../operations/operation.js";
import type { Session } from "../people/session.js";
import { Outbox } from "./outbox.js";
import { TokenBucket } from "./token-bucket.js";

export interface ApiClientOptions {
  readonly socket: WebSocket;
  /** With the port. */
  readonly address: string;
  readonly door: JsonRpcDoor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of who has not signed in. */
  readonly permission: Permission;
  readonly maxMessagesPerSecond: number;
  readonly maxBufferedBytes: number;
}

/** A calm end, in the words of RFC 6455. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;

/**
 * One WebSocket connection of the API. Messages above the rate are not refused:
 * they wait, and the socket is not read meanwhile.
 */
export class ApiClient implements Client {
  readonly #socket: WebSocket;
  readonly #options: ApiClientOptions;
  readonly #bucket: TokenBucket;
  readonly #outbox: Outbox;
  /** Already read from the socket when it was paused; no more than one chunk of it. */
  readonly #waiting: string[] = [];
  readonly #address: string;
  #session: Session | undefined;
  #timer: unknown;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#bucket = new TokenBucket(options.maxMessagesPerSecond, () =>
      options.clock.now(),
    );
    const { socket, clock, maxBufferedBytes } = options;
    this.#outbox = new Outbox({
      socket,
      clock,
      maxBufferedBytes,
      onStuck: () => {
        this.#cutOff();
      },
    });
    this.#address = options.address.replace(/:\d+$/, "");
    this.#socket.on("message", (data, isBinary) => {
      this.#onMessage(data, isBinary);
    });
    this.#socket.on("close", () => {
      this.#waiting.length = 0;
      options.clock.clearTimeout(this.#timer);
    });
    this.#socket.on("error", (error) => {
      options.logger.debug(`${options.address}: ${error.message}`);
    });
  }

  get session(): Session | undefined {
    return this.#session;
  }

  setSession(session: Session | undefined): void {
    this.#session = session;
  }

  trySend(message: Buffer): boolean {
    return this.#outbox.trySend(message);
  }

  close(reason = "the server is stopping"): void {
    this.#socket.close(GOING_AWAY, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (isBinary) {
      this.#socket.close(UNSUPPORTED_DATA, "text frames only");
      return;
    }
    // `binaryType` is left at its default, so that it is one buffer.
    this.#waiting.push((data as Buffer).toString("utf8"));
    if (this.#timer === undefined) this.#drain();
  }

  #drain(): void {
    this.#timer = undefined;
    while (this.#waiting.length > 0 && this.#bucket.take())
      void this.#answer(this.#waiting.shift()!);
    if (this.#waiting.length === 0) {
      this.#socket.resume();
      return;
    }
    this.#socket.pause();
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#drain();
    }, this.#bucket.waitMs());
  }

  async #answer(text: string): Promise<void> {
    if (this.#session !== undefined && this.#session.person() === undefined) {
      // Clients of Xen Orchestra expect no answer then.
      this.#socket.close(POLICY_VIOLATION, "the session is over");
      return;
    }
    const { door, permission } = this.#options;
    const context = toCallContext(this, this.#address, permission);
    const answer = await door.answer(text, context);
    if (answer !== undefined) this.#outbox.send(answer);
  }

  #cutOff(): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const { logger, address } = this.#options;
    logger.warn(`${address} does not read its answers, closing`);
    this.#socket.close(POLICY_VIOLATION, "answers are not being read");
    this.#socket.terminate();
  }
}
