import type { Json } from "@xo-server/kit";
import {
  JsonRpcClient,
  type ConnectionState,
  type JsonRpcClientOptions,
} from "./json-rpc-client.js";

/**
 * A call on the page's connection. Rejects with RpcError (an error of the server) or ConnectionLostError.
 * @param timeoutMs default: 120 s
 */
export type Call = (
  method: string,
  params?: Json,
  timeoutMs?: number,
) => Promise<Json>;

type ServerConnectionOptions = Omit<
  JsonRpcClientOptions,
  "onState" | "onNotification"
>;

/** The page's connection to the server: calls, notifications by method, and its state. */
export class ServerConnection {
  readonly #client: JsonRpcClient;
  readonly #stateListeners = new Set<(state: ConnectionState) => void>();
  readonly #listeners = new Map<string, Set<(params: Json) => void>>();

  constructor(options: ServerConnectionOptions) {
    this.#client = new JsonRpcClient({
      ...options,
      onState: (state) => {
        for (const listener of [...this.#stateListeners]) listener(state);
      },
      onNotification: (method, params) => {
        for (const listener of [...(this.#listeners.get(method) ?? [])])
          listener(params);
      },
    });
  }

  get state(): ConnectionState {
    return this.#client.state;
  }

  /** Number of calls without an answer. */
  get pendingCalls(): number {
    return this.#client.pendingCalls;
  }

  /** Time of the last message of the server, in ms of the clock; undefined: none on this connection. */
  get receivedAt(): number | undefined {
    return this.#client.receivedAt;
  }

  readonly call: Call = (...call) => this.#client.call(...call);

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  /** Connects immediately instead of after the back-off. */
  retryNow(): void {
    this.#client.retryNow();
  }

  /** Closes the connection and opens a new one. */
  reconnect(reason: string): void {
    this.#client.reconnect(reason);
  }

  /** @returns removes the listener */
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => {
      this.#stateListeners.delete(listener);
    };
  }

  /** @returns removes the listener */
  onNotification(method: string, listener: (params: Json) => void): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(listener));
    return () => {
      listeners.delete(listener);
    };
  }
}
