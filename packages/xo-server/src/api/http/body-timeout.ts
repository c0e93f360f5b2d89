import type { IncomingMessage } from "node:http";
import type { Clock } from "../../clock.js";

export interface BodyTimeoutOptions {
  readonly timeoutMs: number;
  /** Called with a request that is about to be given up. */
  readonly onTimeout: (request: IncomingMessage) => void;
  readonly clock: Clock;
}

interface Watched {
  bytesRead: number;
  movedAt: number;
}

/**
 * Gives up requests whose bodies stand still: a caller that sends a byte now and
 * then would hold a connection for good. Uploads take as long as they take; that
 * ours is the slow side is not held against them.
 */
export class BodyTimeout {
  readonly #options: BodyTimeoutOptions;
  readonly #watched = new Map<IncomingMessage, Watched>();
  #timer: unknown;

  constructor(options: BodyTimeoutOptions) {
    this.#options = options;
  }

  /** To be called as soon as the headers are there. */
  watch(request: IncomingMessage): void {
    const { headers, socket } = request;
    const hasBody =
      headers["transfer-encoding"] !== undefined ||
      Number(headers["content-length"] ?? 0) > 0;
    if (!hasBody || request.complete) return;
    const movedAt = this.#options.clock.now();
    this.#watched.set(request, { bytesRead: socket.bytesRead, movedAt });
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
    const { clock, timeoutMs, onTimeout: onStuck } = this.#options;
    const now = clock.now();
    for (const [request, watched] of this.#watched) {
      if (request.complete) this.#watched.delete(request);
      else if (this.#hasProgressed(request, watched)) watched.movedAt = now;
      else if (now - watched.movedAt >= timeoutMs) {
        this.#watched.delete(request);
        onStuck(request);
        request.socket.destroy();
      }
    }
  }

  /** By a kilobyte at least, from one look to the next, or what came before waits for us. */
  #hasProgressed(request: IncomingMessage, watched: Watched): boolean {
    const { bytesRead } = request.socket;
    const isOurTurn = request.readableLength > 0;
    const hasMoved = isOurTurn || bytesRead - watched.bytesRead >= 1024;
    if (hasMoved) watched.bytesRead = bytesRead;
    return hasMoved;
  }
}
