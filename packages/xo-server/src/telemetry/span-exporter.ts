import type { WallClock } from "@xo-server/kit";
import type { Logger } from "../log/logger.js";
import type { EndedSpan, SpanAttributes } from "./span.js";
import { toOtlpJson } from "./otlp-json.js";

const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 10_000;
const MAX_QUEUED = 4096;
const MAX_BATCH = 512;

interface SpanExporterOptions {
  /** URL of the collector: `http://host:4318/v1/traces`. */
  readonly url: string;
  /** Bearer token; empty: none. Read for each request. */
  readonly readToken: () => Promise<string>;
  readonly resource: SpanAttributes;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** Counts of spans since the start. */
export interface ExportFigures {
  readonly queued: number;
  readonly exported: number;
  /** Spans that were not exported: the queue was full, or the collector rejected them. */
  readonly dropped: number;
}

/** The collector has rejected the request permanently. */
class RefusedError extends Error {}

/** Sends ended spans to a collector, in batches, at most one request at a time. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #stopped = new AbortController();
  #queue: EndedSpan[] = [];
  #timer: unknown;
  #sending: Promise<void> | undefined;
  #exported = 0;
  #dropped = 0;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  get figures(): ExportFigures {
    const queued = this.#queue.length;
    return { queued, exported: this.#exported, dropped: this.#dropped };
  }

  add(span: EndedSpan): void {
    if (this.#queue.length >= MAX_QUEUED || this.#stopped.signal.aborted) {
      this.#dropped++;
      return;
    }
    this.#queue.push(span);
    this.#timer ??= this.#options.clock.setTimeout(() => {
      this.#onTimer();
    }, INTERVAL_MS);
  }

  /** Makes one attempt to send what is queued. */
  async stop(): Promise<void> {
    this.#options.clock.clearTimeout(this.#timer);
    await this.flush();
    this.#stopped.abort();
  }

  #onTimer(): void {
    void this.flush().then(() => {
      this.#timer =
        this.#queue.length === 0 || this.#stopped.signal.aborted
          ? undefined
          : this.#options.clock.setTimeout(() => {
              this.#onTimer();
            }, INTERVAL_MS);
    });
  }

  /** Sends until the queue is empty or a request fails. */
  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Sends spans until the queue is empty or a request fails. Never rejects. */
  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, MAX_BATCH);
      try {
        await this.#post(batch);
        this.#exported += batch.length;
      } catch (error) {
        const { logger, url } = this.#options;
        logger.warn(`traces were not exported to ${new URL(url).host}`, {
          error,
        });
        // Other failures are temporary: the spans stay in the queue.
        if (!(error instanceof RefusedError)) return;
        this.#dropped += batch.length;
      }
      this.#queue = this.#queue.slice(batch.length);
    }
  }

  async #post(spans: readonly EndedSpan[]): Promise<void> {
    const { url, readToken, resource } = this.#options;
    const token = await readToken();
    const response = await fetch(url, {
      method: "POST",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "content-type": "application/json",
        "user-agent": "xo-server",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      },
      body: toOtlpJson(spans, resource),
    });
    await response.body?.cancel();
    const { status, ok } = response;
    if (ok) return;
    const reason = `HTTP status ${status}`;
    throw status === 429 || status >= 500
      ? new Error(reason)
      : new RefusedError(reason);
  }
}
