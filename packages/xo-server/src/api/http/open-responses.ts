import type { ServerResponse } from "node:http";
import type { WallClock } from "@xo-server/kit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { LimitHits } from "../../limits/limit-hits.js";
import { toRateKey } from "../../limits/rate-limits.js";
import type { SlowClient } from "../../limits/unsent-bytes.js";
import type { Logger } from "../../log/logger.js";

/** Larger responses may not fit into the buffers of the network, in bytes. */
const LARGE_BYTES = 64 * 1024;

/** The connection is closed if the client reads nothing of a large response for this long, in ms. */
const IDLE_TIMEOUT_MS = 120_000;

/** Interval between two checks while responses are open, in ms. */
const CHECK_INTERVAL_MS = 1_000;

interface OpenResponsesOptions {
  /** Closes some if all together hold too many bytes. */
  readonly check: () => void;
  readonly hits: LimitHits;
  readonly clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
  readonly logger: Pick<Logger, "warn">;
}

/** The responses to HTTP requests that are not sent completely: a client may never read its response. */
export class OpenResponses implements Iterable<SlowClient> {
  readonly #options: OpenResponsesOptions;
  readonly #open = new Set<OpenResponse>();
  #timer: unknown;

  constructor(options: OpenResponsesOptions) {
    this.#options = options;
  }

  [Symbol.iterator](): Iterator<SlowClient> {
    return this.#open.values();
  }

  /** Watches all requests of a server. */
  addTo(app: FastifyInstance): void {
    app.addHook("onRequest", async (request, reply) => {
      this.#add(request, reply);
    });
    app.addHook("onSend", async (_request, { raw }, payload) => {
      if (!isLarge(payload)) return;
      raw.setTimeout(IDLE_TIMEOUT_MS, () => {
        // Otherwise the operation takes long.
        if (raw.writableLength > 0) raw.destroy();
      });
      // After it was written.
      setImmediate(this.#options.check);
    });
    app.addHook("preClose", async () => {
      this.#options.clock.clearTimeout(this.#timer);
    });
  }

  #add(request: FastifyRequest, { raw }: FastifyReply): void {
    const response = new OpenResponse(request, raw, this.#options);
    this.#open.add(response);
    raw.once("close", () => this.#open.delete(response));
    this.#scheduleCheck();
  }

  #scheduleCheck(): void {
    const { clock, check } = this.#options;
    this.#timer ??= clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#open.size === 0) return;
      check();
      this.#scheduleCheck();
    }, CHECK_INTERVAL_MS);
  }
}

function isLarge(payload: unknown): boolean {
  const isWhole = typeof payload === "string" || Buffer.isBuffer(payload);
  return isWhole && payload.length > LARGE_BYTES;
}

class OpenResponse implements SlowClient {
  readonly #request: FastifyRequest;
  readonly #raw: ServerResponse;
  readonly #options: Pick<OpenResponsesOptions, "hits" | "logger">;

  constructor(
    request: FastifyRequest,
    raw: ServerResponse,
    options: Pick<OpenResponsesOptions, "hits" | "logger">,
  ) {
    this.#request = request;
    this.#raw = raw;
    this.#options = options;
  }

  get unsentBytes(): number {
    const { writableLength, writableNeedDrain } = this.#raw;
    // A list that waits for the client holds its next part too.
    return writableNeedDrain ? 2 * writableLength : writableLength;
  }

  /** Known when the request is authenticated. */
  get owner(): string {
    const { caller, clientAddress } = this.#request;
    return caller?.context.user?.id ?? toRateKey(clientAddress.address);
  }

  closeStalled(): void {
    const { hits, logger } = this.#options;
    hits.count("slow_reader");
    const { address } = this.#request.clientAddress;
    logger.warn(
      `closing the connection of ${address}: responses are not being read`,
    );
    this.#raw.destroy();
  }
}
