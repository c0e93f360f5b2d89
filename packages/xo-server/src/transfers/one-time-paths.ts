import { percentEncode } from "../encoding/percent-encode.js";
import type { WallClock } from "@xo-server/kit";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { toRateKey } from "../limits/rate-limits.js";
import type { SharedPaths } from "./shared-paths.js";
import { PATH_PREFIX, type Offers, type PathOwner } from "./one-time-path.js";
import type { OpenTransfer, ReceiveTransfer } from "./transfer.js";

/** A file that can be downloaded once. */
interface Download {
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly body: AsyncIterable<Buffer>;
}

interface OneTimePathsOptions {
  readonly clock: WallClock;
  /** Unused offers at most. */
  readonly maxOffers?: number;
  /** Unused offers of one user, or of one address of anonymous clients, at most. */
  readonly maxOffersPerCaller?: number;
  /** Lifetime of an unused offer, in ms. */
  readonly lifeMs?: number;
}

type Offer = { readonly [K in keyof Offers]?: Offers[K] };

interface StoredOffer {
  readonly offer: Offer;
  readonly owner: PathOwner;
  /** Undefined: not counted. */
  readonly key: string | undefined;
  readonly timer: unknown;
  /** Other servers of the database can serve it. */
  readonly isPublished: boolean;
}

/**
 * Secret paths for one download or upload each. Knowing the path is the only
 * authorization; it is valid once, for a minute, and not longer than the session
 * of its owner. With several servers each of them serves all paths (SharedPaths).
 */
export class OneTimePaths {
  readonly #clock: WallClock;
  readonly #most: number;
  readonly #mostPerCaller: number;
  readonly #lifeMs: number;
  readonly #offers = new Map<string, StoredOffer>();
  #shared: SharedPaths | undefined;
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

  /** Makes paths valid on all servers of the database. */
  share(shared: SharedPaths): void {
    this.#shared = shared;
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  offer(
    { type, body }: Download,
    owner: PathOwner,
  ): Promise<{ $getFrom: string }> {
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
  async offerDownload(
    download: OpenTransfer,
    owner: PathOwner,
    fileName = "",
  ): Promise<{ $getFrom: string }> {
    const path = await this.#add({ download }, owner);
    const name = fileName === "" ? "" : `/${percentEncode(fileName)}`;
    return { $getFrom: path + name };
  }

  /** @throws XoError TOO_MANY_REQUESTS */
  async offerUpload(
    upload: ReceiveTransfer,
    owner: PathOwner,
  ): Promise<{ $sendTo: string }> {
    return { $sendTo: await this.#add({ upload }, owner) };
  }

  /**
   * Undefined: unknown, used or expired, or of the other kind, which stays valid.
   * @throws XoError, XapiError of the operation that is called again for a path of another server
   */
  async take<K extends keyof Offers>(
    token: string,
    kind: K,
  ): Promise<Offers[K] | undefined> {
    const found = this.#offers.get(token);
    if (found !== undefined) return this.#takeOwn(token, kind, found);
    const again = await this.#shared?.offerAgain(token, kind);
    return again === undefined ? undefined : this.take(again, kind);
  }

  async #takeOwn<K extends keyof Offers>(
    token: string,
    kind: K,
    found: StoredOffer,
  ): Promise<Offers[K] | undefined> {
    const taken = found.offer[kind] as Offers[K] | undefined;
    if (taken === undefined) return undefined;
    this.#remove(token, found);
    if (found.isPublished && !(await this.#shared!.withdraw(token, kind)))
      return undefined;
    const { session } = found.owner.client;
    if (session === undefined) return taken;
    const user = session.user();
    return user === undefined || user.isSetUpOnly === true ? undefined : taken;
  }

  /** Removes the offers of a user whose sessions end. @param except the connection that stays, whose paths are valid on this server */
  async revoke(userId: string, except: PathOwner["client"]): Promise<void> {
    for (const [token, stored] of this.#offers) {
      const { user, client } = stored.owner;
      if (user?.id !== userId) continue;
      if (client === except)
        this.#offers.set(token, { ...stored, isPublished: false });
      else this.#remove(token, stored);
    }
    await this.#shared?.revoke(userId);
  }

  stop(): void {
    for (const { timer } of this.#offers.values())
      this.#clock.clearTimeout(timer);
    this.#offers.clear();
    this.#counts.clear();
    this.#counted = 0;
  }

  async #add(offer: Offer, owner: PathOwner): Promise<string> {
    const key = this.#count(owner);
    const token = randomBytes(32).toString("base64url");
    const kind = offer.download === undefined ? "upload" : "download";
    const timer = this.#clock.setTimeout(() => {
      this.#remove(token, stored);
    }, this.#lifeMs);
    const stored = { offer, owner, key, timer, isPublished: false };
    this.#offers.set(token, stored);
    // A caller that uses the path immediately sends its request to this server.
    if (owner.takesPathAtOnce === true || this.#shared === undefined)
      return PATH_PREFIX + token;
    const expiresAt = this.#clock.now() + this.#lifeMs;
    const path = { token, kind, expiresAt } as const;
    if (await this.#shared.publish(path, owner))
      this.#offers.set(token, { ...stored, isPublished: true });
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
