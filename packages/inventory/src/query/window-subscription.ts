import { XoError } from "@xo-server/model";
import type { Logger } from "@xo-server/kit";
import type { CompiledQuery } from "./request.js";
import type { LiveQuery, LiveRequest, LiveUpdate } from "./query.js";
import type { ResultHandle } from "./result-cache.js";
import type { WindowState } from "./window-state.js";
import type { Subscriber, Window, WindowRange } from "./window.js";

/** A subscription's use of a window. */
export interface OpenWindow {
  readonly window: Window;
  close(): void;
}

export interface PreparedRequest {
  readonly handle: ResultHandle;
  readonly query: CompiledQuery;
  readonly range: WindowRange;
  readonly fields: readonly string[] | undefined;
  /** The metrics of the query should be as new as possible. */
  readonly isReader: boolean;
}

interface WindowSubscriptionOptions {
  /**
   * Resolves with a handle of the result for the request; rejects for an invalid
   * request.
   */
  readonly open: (request: LiveRequest) => Promise<PreparedRequest>;
  readonly openWindow: (parts: PreparedRequest) => OpenWindow;
  readonly onClose: (subscription: WindowSubscription) => void;
  readonly logger: Pick<Logger, "error">;
}

/**
 * A live query, as a subscriber of the window that its request needs. `change` cancels a previous change that is
 * still being prepared; until the new window is ready, updates of the previous
 * one are sent.
 */
export class WindowSubscription implements LiveQuery, Subscriber {
  window: Window | undefined;
  lastSent: WindowState | undefined;
  readonly #options: WindowSubscriptionOptions;
  readonly #listener: (update: LiveUpdate) => void;
  /** The request made last, and the one whose window is subscribed. */
  #requested: LiveRequest;
  #current: LiveRequest;
  /** Number of the last `change`: earlier ones are cancelled. */
  #generation = 0;
  #isClosed = false;
  #openWindow: OpenWindow | undefined;
  #cancel: () => void = () => undefined;

  constructor(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
    options: WindowSubscriptionOptions,
  ) {
    this.#requested = request;
    this.#current = request;
    this.#listener = listener;
    this.#options = options;
  }

  async change(request: Partial<LiveRequest>): Promise<void> {
    if (this.#isClosed) throw new XoError("CLOSED", { what: "the live query" });
    const generation = ++this.#generation;
    this.#cancel();
    this.#requested = { ...this.#requested, ...request };
    const requested = this.#requested;
    try {
      await this.#openRequest(requested, () => generation !== this.#generation);
    } catch (error) {
      // A later change has replaced this one: its error is of no interest.
      if (generation !== this.#generation) return;
      this.#requested = this.#current;
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#generation++;
    this.#cancel();
    this.window?.leave(this);
    this.#openWindow?.close();
    this.#options.onClose(this);
  }

  notify(update: LiveUpdate): void {
    try {
      this.#listener(update);
    } catch (error) {
      this.#options.logger.error("a listener of a live query failed", {
        error,
      });
    }
  }

  async #openRequest(
    requested: LiveRequest,
    isCancelled: () => boolean,
  ): Promise<void> {
    const prepared = await this.#options.open(requested);
    if (isCancelled()) {
      prepared.handle.release();
      return;
    }
    // While the result is being built; later the window returns the handle.
    this.#cancel = () => {
      prepared.handle.release();
    };
    const isReady = await prepared.handle.shared.ready;
    if (!isReady || isCancelled()) {
      prepared.handle.release();
      return;
    }
    await this.#join(
      this.#options.openWindow(prepared),
      requested,
      isCancelled,
    );
  }

  async #join(
    open: OpenWindow,
    requested: LiveRequest,
    isCancelled: () => boolean,
  ): Promise<void> {
    this.#cancel = () => undefined;
    const { window } = open;
    try {
      await window.result.columns.table.run(window.join(this, isCancelled));
    } catch (error) {
      open.close();
      throw error;
    }
    if (this.window !== window) {
      open.close();
      return;
    }
    const previous = this.#openWindow;
    this.#openWindow = open;
    this.#current = requested;
    previous?.close();
    // Closed by its own listener.
    if (this.#isClosed) open.close();
  }
}
