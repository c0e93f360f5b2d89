import type { WallClock } from "@xo-server/kit";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { toRateKey } from "../limits/rate-limits.js";
import type { CallContext } from "../operations/operation.js";
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
  /** Unused offers of one user, or of one address of anonymous clients, at most. */
  readonly maxOffersPerCaller?: number;
  /** Lifetime of an unused offer, in ms. */
  readonly lifeMs?: number;
}

/** Transfer of a path, by kind. */
export interface Offers {
  readonly download: OpenTransfer;
  readonly upload: ReceiveTransfer;
}

type Offer = { readonly [K in keyof Offers]?: Offers[K] };

/** The user who was offered a path. */
export type PathOwner = Pick<
  CallContext,
  "user" | "address" | "client" | "takesPathAtOnce"
>;

interface StoredOffer {
  readonly offer: Offer;
  readonly owner: PathOwner;
  /** Undefined: not counted. */
  readonly key: string | undefined;
  readonly timer: unknown;
}

export const PATH_PREFIX = "/api/";

/**
 * Secret paths for one download or upload each. Knowing the path is the only
 * authorization; it is valid once, for a minute, and not longer than the session
 * of its owner.
 */
export class OneTimePaths {
  readonly #clock: WallClock;
  readonly #most: number;
  readonly #mostPerCaller: number;
  readonly #lifeMs: number;
  readonly #offers = new Map<string, StoredOffer>();
  /** Number of counted offers by caller. */
  readonly #counts = new Map<string, number>();
  #counted = 0;

  constructor({
    clock,
    maxOffers: most = 10_000,
    maxOffersPerCaller: mostPerCaller = 200,
    lifeMs = 60_000,
  }: OneTimePathsOptions) {
    this.#clock = clock;
    this.#most = most;
    this.#mostPerCaller = mostPerCaller;
    this.#lifeMs = lifeMs;
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offer({ type, body }: Download, owner: PathOwner): { $getFrom: string } {
    const open = async () => ({
      type,
      body: Readable.from(body, { objectMode: false }),
    });
    return this.offerDownload(open, owner);
  }

  /**
   * @param fileName appended to the path: browsers save the file under this name
   * @throws XoError TOO_MANY_REQUESTS
   */
  offerDownload(
    download: OpenTransfer,
    owner: PathOwner,
    fileName = "",
  ): { $getFrom: string } {
    const path = this.#add({ download }, owner);
    const name = fileName === "" ? "" : `/${encodeURIComponent(fileName)}`;
    return { $getFrom: path + name };
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offerUpload(upload: ReceiveTransfer, owner: PathOwner): { $sendTo: string } {
    return { $sendTo: this.#add({ upload }, owner) };
  }

  /** Undefined: unknown, used or expired, or of the other kind, which stays valid. */
  take<K extends keyof Offers>(token: string, kind: K): Offers[K] | undefined {
    const found = this.#offers.get(token);
    const taken = found?.offer[kind] as Offers[K] | undefined;
    if (found === undefined || taken === undefined) return undefined;
    this.#remove(token, found);
    const { session } = found.owner.client;
    return session !== undefined && session.user() === undefined
      ? undefined
      : taken;
  }

  /** Removes the offers of a user whose sessions end. @param except the connection that stays */
  revoke(userId: string, except: PathOwner["client"]): void {
    for (const [token, stored] of this.#offers) {
      const { user, client } = stored.owner;
      if (user?.id === userId && client !== except) this.#remove(token, stored);
    }
  }

  stop(): void {
    for (const { timer } of this.#offers.values())
      this.#clock.clearTimeout(timer);
    this.#offers.clear();
    this.#counts.clear();
    this.#counted = 0;
  }

  #add(offer: Offer, owner: PathOwner): string {
    const key = this.#count(owner);
    const token = randomBytes(32).toString("base64url");
    const timer = this.#clock.setTimeout(() => {
      this.#remove(token, stored);
    }, this.#lifeMs);
    const stored = { offer, owner, key, timer };
    this.#offers.set(token, stored);
    return PATH_PREFIX + token;
  }

  /** @returns the key of the caller; undefined: the offer is used immediately and not counted */
  #count({ user, address, takesPathAtOnce }: PathOwner): string | undefined {
    if (takesPathAtOnce === true) return undefined;
    const key = user === undefined ? toRateKey(address) : `user ${user.id}`;
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#mostPerCaller || this.#counted >= this.#most)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "too many transfers have not been started",
      });
    this.#counts.set(key, count + 1);
    this.#counted++;
    return key;
  }

  #remove(token: string, { key, timer }: StoredOffer): void {
    this.#clock.clearTimeout(timer);
    if (!this.#offers.delete(token) || key === undefined) return;
    const count = this.#counts.get(key)! - 1;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    this.#counted--;
  }
}
