import type { WallClock } from "@xo-server/kit";
import type { IncomingMessage } from "node:http";

interface BodyTimeoutOptions {
  readonly timeoutMs: number;
  /** Called before the connection of a request is closed. */
  readonly onTimeout: (request: IncomingMessage) => void;
  readonly clock: WallClock;
}

interface Watched {
  bytesRead: number;
  progressedAt: number;
}

/**
 * Closes connections whose request body makes no progress, so that clients which
 * send a byte now and then cannot occupy connections. The duration of an upload is
 * not limited, and waiting because the server reads slowly (backpressure) does not
 * count as a stall.
 */
export class BodyTimeout {
  readonly #options: BodyTimeoutOptions;
  readonly #watched = new Map<IncomingMessage, Watched>();
  #timer: unknown;

  constructor(options: BodyTimeoutOptions) {
    this.#options = options;
  }

  /** Call when the headers have been received. */
  watch(request: IncomingMessage): void {
    const { headers, socket } = request;
    const hasBody =
      headers["transfer-encoding"] !== undefined ||
      Number(headers["content-length"] ?? 0) > 0;
    if (!hasBody || request.complete) return;
    const progressedAt = this.#options.clock.now();
    this.#watched.set(request, { bytesRead: socket.bytesRead, progressedAt });
    request.once("close", () => {
      this.#watched.delete(request);
    });
    this.#scheduleCheck();
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#watched.clear();
  }

  #scheduleCheck(): void {
    const { clock, timeoutMs } = this.#options;
    this.#timer ??= clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#check();
        if (this.#watched.size > 0) this.#scheduleCheck();
      },
      Math.ceil(timeoutMs / 4),
    );
  }

  #check(): void {
    const { clock, timeoutMs, onTimeout } = this.#options;
    const now = clock.now();
    for (const [request, watched] of this.#watched) {
      if (request.complete) this.#watched.delete(request);
      else if (this.#hasProgressed(request, watched))
        watched.progressedAt = now;
      else if (now - watched.progressedAt >= timeoutMs) {
        this.#watched.delete(request);
        onTimeout(request);
        request.socket.destroy();
      }
    }
  }

  /**
   * Whether the body has progressed: at least 1 KiB since the last check, or received data that
   * the server has not read yet.
   */
  #hasProgressed(request: IncomingMessage, watched: Watched): boolean {
    const { bytesRead } = request.socket;
    const isServerBusy = request.readableLength > 0;
    const hasProgressed = isServerBusy || bytesRead - watched.bytesRead >= 1024;
    if (hasProgressed) watched.bytesRead = bytesRead;
    return hasProgressed;
  }
}
