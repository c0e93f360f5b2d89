import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { OpenTransfer, ReceiveTransfer } from "./transfer.js";

/** What can be fetched, once. */
export interface Download {
  /** As `Content-Type` says it. */
  readonly type: string;
  readonly body: AsyncIterable<Buffer>;
}

export interface OneTimePathsOptions {
  readonly clock: Clock;
  /** Offers that nobody has taken up yet, at most. */
  readonly maxOffers?: number;
  /** How long an offer stands, in ms. */
  readonly lifeMs?: number;
}

/** What a path stands for. */
export interface Offers {
  readonly download: OpenTransfer;
  readonly upload: ReceiveTransfer;
}

type Offer = { readonly [K in keyof Offers]?: Offers[K] };

export const PATH_PREFIX = "/api/";

/**
 * Paths that stand for one download or upload each: who knows one may use it,
 * once and soon. Nothing else is asked of them, so a path is as good as a password.
 */
export class OneTimePaths {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #lifeMs: number;
  readonly #offers = new Map<string, { offer: Offer; timer: unknown }>();

  constructor({
    clock,
    maxOffers: most = 1_000,
    lifeMs = 60_000,
  }: OneTimePathsOptions) {
    this.#clock = clock;
    this.#most = most;
    this.#lifeMs = lifeMs;
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offer({ type, body }: Download): { $getFrom: string } {
    return this.offerDownload(async () => ({
      type,
      body: Readable.from(body, { objectMode: false }),
    }));
  }

  /**
   * @param fileName ends the path: what a browser saves the file under
   * @throws XoError TOO_MANY_REQUESTS
   */
  offerDownload(download: OpenTransfer, fileName = ""): { $getFrom: string } {
    const path = this.#add({ download });
    const name = fileName === "" ? "" : `/${encodeURIComponent(fileName)}`;
    return { $getFrom: path + name };
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offerUpload(upload: ReceiveTransfer): { $sendTo: string } {
    return { $sendTo: this.#add({ upload }) };
  }

  /** Undefined: there is none such any more. One of the other kind stays. */
  take<K extends keyof Offers>(token: string, kind: K): Offers[K] | undefined {
    const found = this.#offers.get(token);
    const taken = found?.offer[kind] as Offers[K] | undefined;
    if (found === undefined || taken === undefined) return undefined;
    this.#offers.delete(token);
    this.#clock.clearTimeout(found.timer);
    return taken;
  }

  stop(): void {
    for (const { timer } of this.#offers.values())
      this.#clock.clearTimeout(timer);
    this.#offers.clear();
  }

  #add(offer: Offer): string {
    if (this.#offers.size >= this.#most)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "too many transfers are waiting to be begun",
      });
    const token = randomBytes(32).toString("base64url");
    const timer = this.#clock.setTimeout(() => {
      this.#offers.delete(token);
    }, this.#lifeMs);
    this.#offers.set(token, { offer, timer });
    return PATH_PREFIX + token;
  }
}
