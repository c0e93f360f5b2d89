import type { WallClock } from "@xo-server/kit";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { OpenTransfer, ReceiveTransfer } from "./transfer.js";

/** A file that can be downloaded once. */
export interface Download {
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly body: AsyncIterable<Buffer>;
}

export interface OneTimePathsOptions {
  readonly clock: WallClock;
  /** Unused offers at most. */
  readonly maxOffers?: number;
  /** Lifetime of an unused offer, in ms. */
  readonly lifeMs?: number;
}

/** Transfer of a path, by kind. */
export interface Offers {
  readonly download: OpenTransfer;
  readonly upload: ReceiveTransfer;
}

type Offer = { readonly [K in keyof Offers]?: Offers[K] };

export const PATH_PREFIX = "/api/";

/**
 * Secret paths for one download or upload each. Knowing the path is the only
 * authorization; it is valid once and for a minute.
 */
export class OneTimePaths {
  readonly #clock: WallClock;
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
   * @param fileName appended to the path: browsers save the file under this name
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

  /** Undefined: unknown, used or expired, or of the other kind, which stays valid. */
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
        reason: "too many transfers have not been started",
      });
    const token = randomBytes(32).toString("base64url");
    const timer = this.#clock.setTimeout(() => {
      this.#offers.delete(token);
    }, this.#lifeMs);
    this.#offers.set(token, { offer, timer });
    return PATH_PREFIX + token;
  }
}
