import { monotonicClock, type MonotonicClock } from "@xo-server/kit";
import { readMessage } from "./json-rpc-message.js";
import type { Json } from "@xo-server/kit";
import {
  ConnectionLostError,
  NoAnswerError,
  NotConnectedError,
  RpcError,
} from "./rpc-error.js";
import { openWebSocket, type OpenSocket, type Socket } from "./socket.js";

/**
 * ```
 *            start              opened             closed, silent
 *   idle ------------> connecting -----> open ------------------> waiting
 *                        |   ^ closed, too slow                    ^   |
 *                        |   +---------- delay over, retryNow -----|---+
 *                        +-----------------------------------------+
 *   any --- stop ---> idle
 * ```
 */
export type ConnectionState =
  | { readonly name: "idle" }
  | { readonly name: "connecting"; readonly attempt: number }
  | { readonly name: "open" }
  /** `retryAt` is in the clock's milliseconds. */
  | {
      readonly name: "waiting";
      readonly attempt: number;
      readonly retryAt: number;
    };

export interface JsonRpcClientOptions {
  url: string;
  onState?: (state: ConnectionState) => void;
  onNotification?: (method: string, params: Json) => void;
  openSocket?: OpenSocket;
  clock?: MonotonicClock;
  /** A random number from 0 to below 1, like Math.random. */
  random?: () => number;
  /** First and longest delay before the next attempt; it doubles in between. */
  firstDelayMs?: number;
  longestDelayMs?: number;
  /** Timeout for opening a connection. */
  timeoutMs?: number;
  /**
   * Timeout of calls without one of their own. Long: large answers take this long on slow networks,
   * and whether the server is there is the question of the status feed.
   */
  callTimeoutMs?: number;
}

/** Close code of RFC 6455, 7.4.1. */
const GOING_AWAY = 1001;
/**
 * Maximum delay before the connection to another server: a server that stops closes
 * the connections of all clients at once.
 */
const MOVE_MS = 100;

interface Pending {
  resolve(result: Json): void;
  reject(error: Error): void;
  timer: unknown;
}

/** JSON-RPC 2.0 over a WebSocket that reconnects with exponential back-off until it is stopped. */
export class JsonRpcClient {
  readonly #options: Required<JsonRpcClientOptions>;
  #state: ConnectionState = { name: "idle" };
  #socket: Socket | undefined;
  /** Counts connections: events of a previous connection are ignored. */
  #generation = 0;
  #attempt = 0;
  #timer: unknown;
  #nextId = 1;
  #receivedAt: number | undefined;
  readonly #pending = new Map<number, Pending>();

  constructor(options: JsonRpcClientOptions) {
    this.#options = {
      onState: () => undefined,
      onNotification: () => undefined,
      openSocket: openWebSocket,
      clock: monotonicClock,
      random: Math.random,
      firstDelayMs: 500,
      longestDelayMs: 10_000,
      timeoutMs: 10_000,
      callTimeoutMs: 120_000,
      ...options,
    };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  start(): void {
    if (this.#state.name === "idle") this.#connect();
  }

  stop(): void {
    this.#dropSocket("the client was stopped");
    this.#attempt = 0;
    this.#enter({ name: "idle" });
  }

  /** Number of calls without an answer. */
  get pendingCalls(): number {
    return this.#pending.size;
  }

  /** Time of the last message of the server, in ms of the clock; undefined: none on this connection. */
  get receivedAt(): number | undefined {
    return this.#receivedAt;
  }

  /** Connects immediately instead of after the back-off. */
  retryNow(): void {
    if (this.#state.name === "waiting") this.#connect();
  }

  /** Closes the connection and opens a new one, for example when the server does not respond. */
  reconnect(reason: string): void {
    if (this.#state.name !== "idle") this.#lost(reason);
  }

  /**
   * Rejects with RpcError (the server's own) or ConnectionLostError.
   * @param timeoutMs default: the option callTimeoutMs
   */
  call(
    method: string,
    params: Json = {},
    timeoutMs = this.#options.callTimeoutMs,
  ): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (this.#state.name !== "open" || this.#socket === undefined) {
        reject(new NotConnectedError());
        return;
      }
      const id = this.#nextId++;
      const { clock } = this.#options;
      const timer = clock.setTimeout(() => {
        this.#pending.delete(id);
        reject(new NoAnswerError(method));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  #connect(): void {
    const { clock, openSocket, timeoutMs, url } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#attempt += 1;
    this.#receivedAt = undefined;
    this.#enter({ name: "connecting", attempt: this.#attempt });
    const generation = ++this.#generation;
    const ifCurrent =
      <A extends unknown[]>(fn: (...args: A) => void) =>
      (...args: A) => {
        if (generation === this.#generation) fn(...args);
      };
    this.#timer = clock.setTimeout(
      ifCurrent(() => {
        this.#lost("no answer while connecting");
      }),
      timeoutMs,
    );
    this.#socket = openSocket(url, {
      opened: ifCurrent(() => {
        clock.clearTimeout(this.#timer);
        this.#enter({ name: "open" });
      }),
      received: ifCurrent((text: string) => {
        this.#received(text);
      }),
      closed: ifCurrent((code: number) => {
        this.#lost("the connection was closed", code === GOING_AWAY);
      }),
    });
  }

  #received(text: string): void {
    this.#receivedAt = this.#options.clock.now();
    const message = readMessage(text);
    if (message.kind === "bad") {
      this.#lost("the server sent what is not JSON-RPC");
      return;
    }
    // The back-off is reset by a useful message only: a server can accept
    // connections and close them immediately.
    if (message.kind !== "error") this.#attempt = 0;
    if (message.kind === "notification") {
      this.#options.onNotification(message.method, message.params);
      return;
    }
    const pending = this.#take(message.id);
    if (pending === undefined) return;
    if (message.kind === "result") pending.resolve(message.result);
    else
      pending.reject(new RpcError(message.code, message.message, message.data));
  }

  #take(id: number | null): Pending | undefined {
    if (id === null) return undefined;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#options.clock.clearTimeout(pending?.timer);
    return pending;
  }

  /** @param isMoving the server is stopping: another one behind the same URL may answer at once */
  #lost(reason: string, isMoving = false): void {
    this.#dropSocket(reason);
    const { clock, random } = this.#options;
    const delayMs =
      isMoving && this.#attempt === 0 ? random() * MOVE_MS : this.#delayMs();
    this.#timer = clock.setTimeout(() => {
      this.#connect();
    }, delayMs);
    this.#enter({
      name: "waiting",
      attempt: this.#attempt,
      retryAt: clock.now() + delayMs,
    });
  }

  /** Exponential back-off with jitter (half to all of the delay), so that many pages do not reconnect at once. */
  #delayMs(): number {
    const { firstDelayMs, longestDelayMs, random } = this.#options;
    const doublings = Math.max(0, this.#attempt - 1);
    const full = Math.min(longestDelayMs, firstDelayMs * 2 ** doublings);
    return full * (0.5 + random() / 2);
  }

  #dropSocket(reason: string): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#generation += 1;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    for (const id of [...this.#pending.keys()])
      this.#take(id)?.reject(new ConnectionLostError(reason));
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
