import { XoError } from "@xo-server/model";
import type { Logger } from "@xo-server/xen-api";
import type { Question } from "./request.js";
import type { LiveQuery, LiveRequest, LiveUpdate } from "./query.js";
import type { Lease } from "./results.js";
import type { Snapshot } from "./snapshot.js";
import type { Onlooker, Window, WindowPlace } from "./window.js";

/** A window that is being opened, or is open, for one reader. */
export interface OpenWindow {
  readonly window: Window;
  close(): void;
}

export interface LiveRequestParts {
  readonly lease: Lease;
  readonly question: Question;
  readonly place: WindowPlace;
  readonly fields: readonly string[] | undefined;
}

export interface LiveReaderOptions {
  /** Resolves with the use of a result for the request; throws for a wrong request. */
  readonly open: (request: LiveRequest) => Promise<LiveRequestParts>;
  readonly openWindow: (parts: LiveRequestParts) => OpenWindow;
  readonly onClose: (reader: LiveReader) => void;
  readonly logger: Pick<Logger, "error">;
}

/**
 * One who reads a live query. A change abandons the one before it that is still
 * being worked on; until a change is done, the window before it is told.
 */
export class LiveReader implements LiveQuery, Onlooker {
  window: Window | undefined;
  told: Snapshot | undefined;
  readonly #options: LiveReaderOptions;
  readonly #listener: (update: LiveUpdate) => void;
  /** What was asked for last, and what is told. */
  #asked: LiveRequest;
  #shown: LiveRequest;
  #turn = 0;
  #isClosed = false;
  #open: OpenWindow | undefined;
  #giveUp: () => void = () => undefined;

  constructor(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
    options: LiveReaderOptions,
  ) {
    this.#asked = request;
    this.#shown = request;
    this.#listener = listener;
    this.#options = options;
  }

  async change(request: Partial<LiveRequest>): Promise<void> {
    if (this.#isClosed) throw new XoError("CLOSED", { what: "the live query" });
    const turn = ++this.#turn;
    this.#giveUp();
    this.#asked = { ...this.#asked, ...request };
    const asked = this.#asked;
    try {
      await this.#show(asked, () => turn !== this.#turn);
    } catch (error) {
      // The one who changed it again does not care any more.
      if (turn !== this.#turn) return;
      this.#asked = this.#shown;
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#turn++;
    this.#giveUp();
    this.window?.leave(this);
    this.#open?.close();
    this.#options.onClose(this);
  }

  tell(update: LiveUpdate): void {
    try {
      this.#listener(update);
    } catch (error) {
      this.#options.logger.error("a listener of a live query failed", {
        error,
      });
    }
  }

  async #show(asked: LiveRequest, isGivenUp: () => boolean): Promise<void> {
    const parts = await this.#options.open(asked);
    if (isGivenUp()) {
      parts.lease.release();
      return;
    }
    // While the result is made; after that the window gives its lease back.
    this.#giveUp = () => {
      parts.lease.release();
    };
    const isReady = await parts.lease.shared.ready;
    if (!isReady || isGivenUp()) {
      parts.lease.release();
      return;
    }
    await this.#look(this.#options.openWindow(parts), asked, isGivenUp);
  }

  async #look(
    open: OpenWindow,
    asked: LiveRequest,
    isGivenUp: () => boolean,
  ): Promise<void> {
    this.#giveUp = () => undefined;
    const { window } = open;
    try {
      await window.result.columns.table.run(window.join(this, isGivenUp));
    } catch (error) {
      open.close();
      throw error;
    }
    if (this.window !== window) {
      open.close();
      return;
    }
    const before = this.#open;
    this.#open = open;
    this.#shown = asked;
    before?.close();
    // Closed while it was told.
    if (this.#isClosed) open.close();
  }
}
