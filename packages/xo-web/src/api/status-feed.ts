import {
  applyMergePatch,
  isObject,
  monotonicClock,
  type Json,
  type MonotonicClock,
} from "@xo-server/kit";
import type { ConnectionState } from "./json-rpc-client.js";
import { RpcError } from "./rpc-error.js";
import type { ServerConnection } from "./server-connection.js";
import type { Status } from "./status.js";

/** The state of the connection and the last status of the server. */
export interface StatusView {
  /**
   * Retained while the server is disconnected; undefined before the first
   * status.
   */
  readonly status: Status | undefined;
  readonly live: boolean;
  /** Time of the last status, in ms of the feed's clock. */
  readonly receivedAt: number;
  readonly connection: ConnectionState;
  /** The error of `status.subscribe` while the server is connected. */
  readonly refusal: string | undefined;
}

/** Without an answer to `status.subscribe` for this time, the feed reconnects unless a large answer may be in front of it. */
const ANSWER_MS = 10_000;

/** Without any message for this time, the feed reconnects. */
const LONGEST_ANSWER_MS = 120_000;

interface StatusFeedOptions {
  readonly onView: (view: StatusView) => void;
  readonly clock?: MonotonicClock;
  /**
   * Whether the server answers a request outside of the connection. All messages share one
   * socket: on a slow network a large answer delays the others. Default: never.
   */
  readonly isReachable?: () => Promise<boolean>;
  /** Minimum time between two views. A change of the connection is reported immediately. */
  readonly pauseMs?: number;
  /** Without a status for this time, the feed subscribes again. */
  readonly silenceMs?: number;
}

/**
 * The status of the server, kept up to date: a snapshot, then patches from revision
 * to revision. A patch with another base revision than the current one requests a new snapshot.
 */
export class StatusFeed {
  readonly #connection: ServerConnection;
  readonly #clock: MonotonicClock;
  readonly #onView: (view: StatusView) => void;
  readonly #isReachable: () => Promise<boolean>;
  readonly #pauseMs: number;
  readonly #silenceMs: number;
  readonly #removeListeners: readonly (() => void)[];
  #view: StatusView = {
    status: undefined,
    live: false,
    receivedAt: 0,
    connection: { name: "idle" },
    refusal: undefined,
  };
  #revision: number | undefined;
  #isSubscribing = false;
  #lastNotified = Number.NEGATIVE_INFINITY;
  #notifyTimer: unknown;
  #silenceTimer: unknown;
  /** Of the current subscription. */
  #answerTimer: unknown;

  /** Create it before the connection starts. */
  constructor(
    connection: ServerConnection,
    {
      onView,
      clock = monotonicClock,
      isReachable = () => Promise.resolve(false),
      pauseMs = 250,
      silenceMs = 15_000,
    }: StatusFeedOptions,
  ) {
    this.#connection = connection;
    this.#onView = onView;
    this.#pauseMs = pauseMs;
    this.#silenceMs = silenceMs;
    this.#clock = clock;
    this.#isReachable = isReachable;
    this.#removeListeners = [
      connection.onState((state) => {
        this.#connectionChanged(state);
      }),
      connection.onNotification("status", (params) => {
        this.#notified(params);
      }),
    ];
  }

  stop(): void {
    for (const remove of this.#removeListeners) remove();
    this.#clock.clearTimeout(this.#silenceTimer);
    this.#clock.clearTimeout(this.#answerTimer);
    this.#clock.clearTimeout(this.#notifyTimer);
  }

  #connectionChanged(connection: ConnectionState): void {
    const isOpen = connection.name === "open";
    this.#view = { ...this.#view, connection, live: this.#view.live && isOpen };
    if (!isOpen) this.#isSubscribing = false;
    this.#notifyNow();
    if (isOpen) void this.#subscribe();
    else {
      this.#clock.clearTimeout(this.#silenceTimer);
      this.#clock.clearTimeout(this.#answerTimer);
    }
  }

  async #subscribe(): Promise<void> {
    if (this.#isSubscribing) return;
    this.#isSubscribing = true;
    this.#limitAnswer();
    try {
      const answer = await this.#connection.call(
        "status.subscribe",
        {},
        LONGEST_ANSWER_MS,
      );
      this.#isSubscribing = false;
      this.#clock.clearTimeout(this.#answerTimer);
      this.#apply(answer);
    } catch (error) {
      // A lost connection has already reset this, and a new one may be subscribing.
      if (this.#connection.state.name !== "open") return;
      this.#isSubscribing = false;
      const reason = error instanceof Error ? error.message : String(error);
      this.#view = {
        ...this.#view,
        refusal: error instanceof RpcError ? reason : undefined,
      };
      this.#connection.reconnect(reason);
    }
  }

  #limitAnswer(): void {
    this.#clock.clearTimeout(this.#answerTimer);
    const timer = this.#clock.setTimeout(() => {
      void this.#checkConnection(timer);
    }, ANSWER_MS);
    this.#answerTimer = timer;
  }

  /** @param timer of the subscription that has no answer */
  async #checkConnection(timer: unknown): Promise<void> {
    const isDelayed = this.#mayBeDelayed() && (await this.#isReachable());
    // Answered, lost or stopped meanwhile.
    if (timer !== this.#answerTimer || !this.#isSubscribing) return;
    if (isDelayed) this.#limitAnswer();
    else this.#connection.reconnect("status.subscribe: no answer");
  }

  /** Whether a large answer can be in front of that to `status.subscribe`. */
  #mayBeDelayed(): boolean {
    const { pendingCalls, receivedAt } = this.#connection;
    return (
      pendingCalls > 1 &&
      receivedAt !== undefined &&
      this.#clock.now() - receivedAt < LONGEST_ANSWER_MS
    );
  }

  #notified(params: Json): void {
    // A notification before the answer to a subscription is older than that answer.
    if (this.#isSubscribing) return;
    if (
      isObject(params) &&
      "patch" in params &&
      params["base"] !== this.#revision
    )
      void this.#subscribe();
    else this.#apply(params);
  }

  /** Applies a snapshot, or a patch whose base is the current revision. */
  #apply(message: Json): void {
    const status = this.#statusAfter(message);
    if (status === undefined) {
      this.#connection.reconnect("the server sent an invalid status");
      return;
    }
    this.#view = {
      ...this.#view,
      status,
      live: true,
      refusal: undefined,
      receivedAt: this.#clock.now(),
    };
    this.#restartSilenceTimer();
    this.#notifySoon();
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

  #restartSilenceTimer(): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    this.#silenceTimer = this.#clock.setTimeout(() => {
      void this.#subscribe();
    }, this.#silenceMs);
  }

  #notifySoon(): void {
    if (this.#notifyTimer !== undefined) return;
    const waitMs = this.#lastNotified + this.#pauseMs - this.#clock.now();
    if (waitMs <= 0) this.#notifyNow();
    else
      this.#notifyTimer = this.#clock.setTimeout(() => {
        this.#notifyNow();
      }, waitMs);
  }

  #notifyNow(): void {
    this.#clock.clearTimeout(this.#notifyTimer);
    this.#notifyTimer = undefined;
    this.#lastNotified = this.#clock.now();
    this.#onView(this.#view);
  }
}

/** Checks the outline only: the server can be of another version than the page. */
function isStatus(value: unknown): value is Status {
  return (
    isObject(value) &&
    isObject(value["server"]) &&
    isObject(value["pools"]) &&
    isObject(value["totals"])
  );
}
