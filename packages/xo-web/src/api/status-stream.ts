import { systemClock, type Clock } from "./clock.js";
import {
  JsonRpcClient,
  type ConnectionState,
  type JsonRpcClientOptions,
} from "./json-rpc-client.js";
import { isObject, applyMergePatch, type Json } from "@xo-server/kit";
import { RpcError } from "./rpc-error.js";
import type { Status } from "./status.js";

/**
 * A call on the page's connection. Rejects with RpcError (the server's own) or ConnectionLostError.
 * @param timeoutMs default: 10 s
 */
export type Call = (
  method: string,
  params?: Json,
  timeoutMs?: number,
) => Promise<Json>;

/** What a page shows. */
export interface StatusView {
  /** The last that was known, kept while the server is gone; undefined before the first. */
  readonly status: Status | undefined;
  readonly live: boolean;
  /** When the server last said something; the clock's milliseconds. */
  readonly receivedAt: number;
  readonly connection: ConnectionState;
  /** Why the server does not give its status although it answers. */
  readonly refusal: string | undefined;
}

export interface StatusStreamOptions extends Omit<
  JsonRpcClientOptions,
  "onState" | "onNotification"
> {
  onView: (view: StatusView) => void;
  /** For each connection, as soon as calls can be made on it. */
  onOpen?: (call: Call) => void;
  /** Of a notification that is not about the status. */
  onOther?: (method: string, params: Json) => void;
  /** Least time between two views. A change of the connection is told at once. */
  pauseMs?: number;
  /** After so long without a word the server is asked, and given up if it stays silent. */
  silenceMs?: number;
}

/**
 * The server's status, kept up to date: a snapshot, then patches from revision
 * to revision. A patch that does not fit on what is here asks for a new snapshot.
 */
export class StatusStream {
  readonly #client: JsonRpcClient;
  readonly #clock: Clock;
  readonly #onView: (view: StatusView) => void;
  readonly #onOpen: NonNullable<StatusStreamOptions["onOpen"]>;
  readonly #pauseMs: number;
  readonly #silenceMs: number;
  #view: StatusView = {
    status: undefined,
    live: false,
    receivedAt: 0,
    connection: { name: "idle" },
    refusal: undefined,
  };
  #revision: number | undefined;
  #subscribing = false;
  #lastTold = Number.NEGATIVE_INFINITY;
  #tellTimer: unknown;
  #silenceTimer: unknown;

  constructor({
    onView,
    onOpen = () => undefined,
    onOther = () => undefined,
    pauseMs = 250,
    silenceMs = 15_000,
    ...options
  }: StatusStreamOptions) {
    this.#onView = onView;
    this.#onOpen = onOpen;
    this.#pauseMs = pauseMs;
    this.#silenceMs = silenceMs;
    this.#clock = options.clock ?? systemClock;
    this.#client = new JsonRpcClient({
      ...options,
      onState: (state) => {
        this.#connectionChanged(state);
      },
      onNotification: (method, params) => {
        if (method === "status") this.#notified(params);
        else onOther(method, params);
      },
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    this.#client.stop();
    this.#clock.clearTimeout(this.#tellTimer);
  }

  retryNow(): void {
    this.#client.retryNow();
  }

  #connectionChanged(connection: ConnectionState): void {
    const open = connection.name === "open";
    this.#view = { ...this.#view, connection, live: this.#view.live && open };
    if (!open) this.#subscribing = false;
    this.#tellNow();
    if (open) {
      void this.#subscribe();
      this.#onOpen((...call) => this.#client.call(...call));
    } else this.#clock.clearTimeout(this.#silenceTimer);
  }

  async #subscribe(): Promise<void> {
    if (this.#subscribing) return;
    this.#subscribing = true;
    try {
      const answer = await this.#client.call("status.subscribe");
      this.#subscribing = false;
      this.#take(answer);
    } catch (error) {
      // A lost connection has already reset this, and a new one may be subscribing.
      if (this.#client.state.name !== "open") return;
      this.#subscribing = false;
      const reason = error instanceof Error ? error.message : String(error);
      this.#view = {
        ...this.#view,
        refusal: error instanceof RpcError ? reason : undefined,
      };
      this.#client.reconnect(reason);
    }
  }

  #notified(params: Json): void {
    // What comes before the answer to a subscription is older than that answer.
    if (this.#subscribing) return;
    if (
      isObject(params) &&
      "patch" in params &&
      params["base"] !== this.#revision
    )
      void this.#subscribe();
    else this.#take(params);
  }

  /** A snapshot, or a patch whose base is known to fit. */
  #take(message: Json): void {
    const status = this.#statusAfter(message);
    if (status === undefined) {
      this.#client.reconnect("the server sent an unknown status");
      return;
    }
    this.#view = {
      ...this.#view,
      status,
      live: true,
      refusal: undefined,
      receivedAt: this.#clock.now(),
    };
    this.#expectWord();
    this.#tellSoon();
  }

  #statusAfter(message: Json): Status | undefined {
    if (!isObject(message) || typeof message["revision"] !== "number")
      return undefined;
    this.#revision = message["revision"];
    const before = this.#view.status as Json | undefined;
    const after = Object.hasOwn(message, "patch")
      ? applyMergePatch(before, message["patch"]!)
      : (message["status"] ?? null);
    return isStatus(after) ? after : undefined;
  }

  #expectWord(): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    this.#silenceTimer = this.#clock.setTimeout(() => {
      void this.#subscribe();
    }, this.#silenceMs);
  }

  #tellSoon(): void {
    if (this.#tellTimer !== undefined) return;
    const waitMs = this.#lastTold + this.#pauseMs - this.#clock.now();
    if (waitMs <= 0) this.#tellNow();
    else
      this.#tellTimer = this.#clock.setTimeout(() => {
        this.#tellNow();
      }, waitMs);
  }

  #tellNow(): void {
    this.#clock.clearTimeout(this.#tellTimer);
    this.#tellTimer = undefined;
    this.#lastTold = this.#clock.now();
    this.#onView(this.#view);
  }
}

/** Looks at the outline only: the server is ours, but it may be of another version. */
function isStatus(value: unknown): value is Status {
  return (
    isObject(value) &&
    isObject(value["server"]) &&
    isObject(value["pools"]) &&
    isObject(value["totals"])
  );
}
