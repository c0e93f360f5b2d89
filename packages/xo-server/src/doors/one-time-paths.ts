import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.js";

/** What can be fetched, once. */
export interface Download {
  /** As `Content-Type` says it. */
  readonly type: string;
  readonly body: AsyncIterable<Buffer>;
}

export interface OneTimePathsOptions {
  readonly clock: Clock;
  /** Offers that nobody has fetched yet, at most. */
  readonly most?: number;
  /** How long an offer stands, in ms. */
  readonly lifeMs?: number;
}

const PREFIX = "/api/";

/**
 * Paths that stand for one download each: who knows one may fetch it, once and
 * soon. Nothing else is asked of them, so a path is as good as a password.
 */
export class OneTimePaths {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #lifeMs: number;
  readonly #offers = new Map<string, { download: Download; timer: unknown }>();

  constructor({ clock, most = 1_000, lifeMs = 60_000 }: OneTimePathsOptions) {
    this.#clock = clock;
    this.#most = most;
    this.#lifeMs = lifeMs;
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offer(download: Download): { $getFrom: string } {
    if (this.#offers.size >= this.#most)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "too many downloads are waiting to be fetched",
      });
    const token = randomBytes(32).toString("base64url");
    const timer = this.#clock.setTimeout(() => {
      this.#offers.delete(token);
    }, this.#lifeMs);
    this.#offers.set(token, { download, timer });
    return { $getFrom: `${PREFIX}${token}` };
  }

  /** Undefined: there is none such any more. */
  take(token: string): Download | undefined {
    const offer = this.#offers.get(token);
    if (offer === undefined) return undefined;
    this.#offers.delete(token);
    this.#clock.clearTimeout(offer.timer);
    return offer.download;
  }

  stop(): void {
    for (const { timer } of this.#offers.values())
      this.#clock.clearTimeout(timer);
    this.#offers.clear();
  }
}

/** A name may follow the token: it is what a browser saves the file under. */
export function addOneTimePaths(
  app: FastifyInstance,
  paths: OneTimePaths,
): void {
  for (const path of [`${PREFIX}:token`, `${PREFIX}:token/*`])
    app.get<{ Params: { token: string } }>(path, async (request, reply) => {
      const download = paths.take(request.params.token);
      if (download === undefined)
        throw new XoError("NO_SUCH_OBJECT", { type: "page", id: request.url });
      return reply
        .type(download.type)
        .header("cache-control", "no-store")
        .send(Readable.from(download.body, { objectMode: false }));
    });
}
