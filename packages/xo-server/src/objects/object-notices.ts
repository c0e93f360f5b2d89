import type { WallClock } from "@xo-server/kit";
import type {
  Catalog,
  Frame,
  Inventory,
  Priority,
  Steps,
} from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";
import type { Client } from "../auth/sessions/client.js";
import { Rights } from "../rights/rights.js";
import { SharedSubscription } from "./shared-subscription.js";

/**
 * A client that signs in and calls no method for this time, in ms, is subscribed:
 * it has no other use for the connection (`xo-cli watch` of Xen Orchestra).
 */
const BEGIN_AFTER_MS = 1_000;

/**
 * After this time, in ms, all classes are followed for a client that has listed objects:
 * a list of some of them is not held up by this, and short scripts end before it.
 */
const FOLLOW_ALL_AFTER_MS = 3_000;

/** Retry interval for clients whose send queue was full, in ms. */
const RETRY_MS = 100;

interface ObjectNoticesOptions {
  readonly catalog: Catalog;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly clock: WallClock;
  readonly logger: Logger;
}

interface Follower {
  readonly client: Client;
  readonly group: SubscriptionGroup;
  /** Whether the client has listed all objects, and presumably keeps a copy. */
  hasCopy: boolean;
  /** Revision of the last change sent. */
  revision: number;
}

/** Undefined rights: anonymous clients of the demo, who see all objects. */
interface SubscriptionGroup {
  readonly subscription: SharedSubscription;
  readonly key: Rights | undefined;
  readers: number;
}

/**
 * Sends changes of objects as notifications `all` {type: enter | exit, items}
 * to all subscribers that may read them. Nothing is queued: a slow client
 * keeps its revision in the catalog's feed. A client that falls behind the
 * oldest revision of the feed is disconnected; it reconnects and lists the
 * objects again.
 */
export class ObjectNotices {
  readonly #options: ObjectNoticesOptions;
  readonly #followers = new Map<Client, Follower>();
  readonly #groups = new Map<Rights | undefined, SubscriptionGroup>();
  /** Clients that will be subscribed after a delay, with their timers. */
  readonly #beginning = new Map<Client, unknown>();
  readonly #declined = new WeakSet<Client>();
  /** Clients that have called a method other than those that sign in. */
  readonly #calling = new WeakSet<Client>();
  /** Unsubscribes from the catalog's feed; set while there are followers. */
  #unsubscribe: (() => void) | undefined;
  #frames: Frame[] = [];
  /** Frames up to this revision are encoded for all subscriptions. */
  #encoded = 0;
  #isDelivering = false;
  #groupsCreated = 0;
  #followsAll = false;
  #retry: unknown;
  /** Timer of `#followAllSoon`. */
  #following: unknown;

  constructor(options: ObjectNoticesOptions) {
    this.#options = options;
  }

  /** Number of subscribed clients. */
  get size(): number {
    return this.#followers.size;
  }

  /**
   * Subscribes a client that is about to get a list of all objects.
   * @returns undefined for a client that has unsubscribed
   */
  follow(client: Client): SharedSubscription | undefined {
    if (this.#declined.has(client)) return undefined;
    const follower = this.#join(client);
    follower.hasCopy = true;
    this.#followAllSoon();
    return follower.group.subscription;
  }

  /** Subscribes a client at its request. */
  subscribe(client: Client): void {
    this.#declined.delete(client);
    this.#follow(client);
  }

  /**
   * Unsubscribes a client, also one that would be subscribed after signing in.
   * @returns false: it was not subscribed
   */
  unsubscribe(client: Client): boolean {
    this.#declined.add(client);
    return this.forget(client);
  }

  /**
   * To be called when a client calls a method. A client that calls other methods
   * than those that sign in gets notifications only if it lists all objects or
   * subscribes, because views of all classes are built for subscribers.
   */
  onCall(client: Client, method: string): void {
    if (method.startsWith("session.")) return;
    this.#calling.add(client);
    this.#cancelBeginning(client);
  }

  /** To be called when the user of a client, or the rights of the user, have changed. */
  renew(client: Client): void {
    const follower = this.#followers.get(client);
    if (client.session === undefined) this.forget(client);
    else if (follower === undefined) this.#beginSoon(client);
    else if (this.#keyOf(client) !== follower.group.key) {
      this.forget(client);
      if (follower.hasCopy)
        client.close("rights have changed, list the objects again");
      else this.#follow(client);
    }
  }

  /** To be called when the client has disconnected. */
  forget(client: Client): boolean {
    this.#cancelBeginning(client);
    const follower = this.#followers.get(client);
    if (follower === undefined) return false;
    this.#followers.delete(client);
    const { group } = follower;
    if (--group.readers === 0) this.#groups.delete(group.key);
    if (this.#followers.size === 0) this.#leaveFeed();
    return true;
  }

  stop(): void {
    this.#leaveFeed();
    this.#options.clock.clearTimeout(this.#retry);
    this.#options.clock.clearTimeout(this.#following);
    for (const client of this.#beginning.keys()) this.#cancelBeginning(client);
    this.#followers.clear();
  }

  #follow(client: Client): void {
    this.#join(client);
    this.#followAll("normal");
  }

  #join(client: Client): Follower {
    this.#cancelBeginning(client);
    const known = this.#followers.get(client);
    if (known !== undefined) return known;
    const group = this.#groupOf(client);
    group.readers++;
    this.#joinFeed();
    const { revision } = this.#options.catalog.feed;
    const follower = { client, group, revision, hasCopy: false };
    this.#followers.set(client, follower);
    return follower;
  }

  #beginSoon(client: Client): void {
    const isOther = this.#declined.has(client) || this.#calling.has(client);
    if (isOther || this.#beginning.has(client)) return;
    const { clock } = this.#options;
    this.#beginning.set(
      client,
      clock.setTimeout(() => {
        this.#follow(client);
      }, BEGIN_AFTER_MS),
    );
  }

  #cancelBeginning(client: Client): void {
    this.#options.clock.clearTimeout(this.#beginning.get(client));
    this.#beginning.delete(client);
  }

  #groupOf(client: Client): SubscriptionGroup {
    const key = this.#keyOf(client);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const name = String(++this.#groupsCreated);
    const subscription =
      key === undefined
        ? new SharedSubscription(name)
        : new SharedSubscription(name, (type) => key.extent("read", type));
    const group = { subscription, key, readers: 0 };
    this.#groups.set(key, group);
    return group;
  }

  /** Undefined: the client may read all objects. */
  #keyOf(client: Client): Rights | undefined {
    if (client.session === undefined) return undefined;
    const rights = client.session.user()?.rights ?? Rights.none;
    const { types } = this.#options.catalog;
    return types.every((type) => rights.extent("read", type) === "all")
      ? undefined
      : rights;
  }

  /** The client has no objects of other classes than the listing follows. */
  #followAllSoon(): void {
    this.#following ??= this.#options.clock.setTimeout(() => {
      this.#following = undefined;
      if (this.#followers.size > 0) this.#followAll("background");
    }, FOLLOW_ALL_AFTER_MS);
  }

  /** Follows all classes, because the feed only contains changes of followed classes. */
  #followAll(priority: Priority): void {
    if (this.#followsAll) return;
    this.#followsAll = true;
    const { catalog, logger } = this.#options;
    for (const type of catalog.types)
      catalog
        .follow(catalog.classOf(type)!, undefined, priority)
        .catch((error: unknown) => {
          logger.debug(`changes of ${type} are not sent`, { error });
        });
  }

  #joinFeed(): void {
    if (this.#unsubscribe !== undefined) return;
    const { feed } = this.#options.catalog;
    this.#encoded = feed.revision;
    this.#unsubscribe = feed.subscribe(
      (frame) => {
        this.#frames.push(frame);
        this.#deliver();
      },
      { readRevision: () => this.#sentRevision() },
    );
  }

  /** Changes up to this revision were sent to all subscribers. */
  #sentRevision(): number {
    let lowest = Infinity;
    for (const { revision } of this.#followers.values())
      lowest = Math.min(lowest, revision);
    return lowest;
  }

  /**
   * Unsubscribes from the feed, so that the catalog does not encode changes while
   * there is no subscriber.
   */
  #leaveFeed(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#frames = [];
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    const { inventory, logger } = this.#options;
    inventory
      .runInSlices("notices", this.#delivery())
      .catch((error: unknown) => {
        logger.error("notifications failed", { error });
      })
      .finally(() => {
        this.#isDelivering = false;
        if (this.#frames.length > 0) this.#deliver();
      });
  }

  *#delivery(): Steps {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        yield* this.#encode(frame);
        this.#encoded = frame.last;
      }
      for (const follower of this.#followers.values()) {
        this.#advance(follower);
        yield;
      }
      if (this.#frames.length === 0) return;
    }
  }

  *#encode(frame: Frame): Steps {
    for (const { subscription } of this.#groups.values())
      for (let part = 0; part < SharedSubscription.partsOf(frame); part++) {
        subscription.messages(frame, part);
        yield;
      }
  }

  /** Sends a subscriber as many frames as its send queue accepts. */
  #advance(follower: Follower): void {
    const { feed } = this.#options.catalog;
    const { feedId } = feed;
    const { session } = follower.client;
    if (session !== undefined && session.user() === undefined) {
      this.forget(follower.client);
      return;
    }
    const frames = feed.since({ feedId, revision: follower.revision });
    if (frames === "resync") {
      this.forget(follower.client);
      follower.client.close("too slow, list the objects again");
      return;
    }
    for (const frame of frames) {
      if (frame.last > this.#encoded) return;
      if (!send(follower, frame)) {
        this.#retryLater();
        return;
      }
    }
  }

  #retryLater(): void {
    this.#retry ??= this.#options.clock.setTimeout(() => {
      this.#retry = undefined;
      this.#deliver();
    }, RETRY_MS);
  }
}

/** @returns false: the send queue is full; the rest is sent later */
function send(follower: Follower, frame: Frame): boolean {
  const { client, group } = follower;
  let part = SharedSubscription.partAt(
    frame,
    Math.max(frame.first, follower.revision + 1),
  );
  for (; part < SharedSubscription.partsOf(frame); part++) {
    for (const message of group.subscription.messages(frame, part))
      if (!client.trySend(message)) return false;
    follower.revision = SharedSubscription.lastRevision(frame, part);
  }
  return true;
}
