import type { Catalog, Frame, Inventory, Steps } from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import type { Client } from "../auth/client.js";
import { Rights } from "../rights/rights.js";
import { Outlook } from "./outlook.js";

/** Who has just signed in may want something else first, or nothing of this. */
const BEGIN_AFTER_MS = 1_000;

/** Who had no room is asked again. */
const RETRY_MS = 100;

export interface ObjectNoticesOptions {
  readonly catalog: Catalog;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Follower {
  readonly client: Client;
  readonly view: SharedOutlook;
  /** It has asked for all objects, and keeps them, as far as we know. */
  hasCopy: boolean;
  /** Of the last change that it has been told. */
  revision: number;
}

/** Undefined rights: whoever has not signed in, and sees everything (the demo). */
interface SharedOutlook {
  readonly outlook: Outlook;
  readonly key: Rights | undefined;
  readers: number;
}

/**
 * Notifications `all` {type: enter | exit, items}: what changes, to all who
 * want them and may see it. Nothing is queued for anybody: who has no room keeps
 * its place in the catalog's feed. Who falls so far behind that the feed has
 * forgotten the place is disconnected; clients then connect anew and list.
 */
export class ObjectNotices {
  readonly #options: ObjectNoticesOptions;
  readonly #followers = new Map<Client, Follower>();
  readonly #outlooks = new Map<Rights | undefined, SharedOutlook>();
  /** Clients that will be followers soon, with their timers. */
  readonly #beginning = new Map<Client, unknown>();
  readonly #declined = new WeakSet<Client>();
  readonly #unsubscribe: () => void;
  #frames: Frame[] = [];
  /** Frames up to here have been encoded for all outlooks. */
  #encoded: number;
  #isDelivering = false;
  #outlooksMade = 0;
  #followsAll = false;
  #retry: unknown;

  constructor(options: ObjectNoticesOptions) {
    this.#options = options;
    const { feed } = options.catalog;
    this.#encoded = feed.revision;
    this.#unsubscribe = feed.subscribe((frame) => {
      this.#onFrame(frame);
    });
  }

  /**
   * From now on; called by whoever is about to list all objects to the client.
   * @returns undefined for a client that has declined
   */
  follow(client: Client): Outlook | undefined {
    if (this.#declined.has(client)) return undefined;
    const follower = this.#follow(client);
    follower.hasCopy = true;
    return follower.view.outlook;
  }

  /** The client asks for it itself. */
  subscribe(client: Client): void {
    this.#declined.delete(client);
    this.#follow(client);
  }

  /** The client wants none, also after signing in. False: it got none before. */
  unsubscribe(client: Client): boolean {
    this.#declined.add(client);
    return this.forget(client);
  }

  /** Somebody else is behind a client now, or the same with other rights. */
  renew(client: Client): void {
    const follower = this.#followers.get(client);
    if (client.session === undefined) this.forget(client);
    else if (follower === undefined) this.#beginSoon(client);
    else if (this.#keyOf(client) !== follower.view.key) {
      this.forget(client);
      if (follower.hasCopy)
        client.close("rights have changed, list the objects anew");
      else this.#follow(client);
    }
  }

  /** The client has gone. */
  forget(client: Client): boolean {
    this.#cancelBeginning(client);
    const follower = this.#followers.get(client);
    if (follower === undefined) return false;
    this.#followers.delete(client);
    const { view } = follower;
    if (--view.readers === 0) this.#outlooks.delete(view.key);
    return true;
  }

  stop(): void {
    this.#unsubscribe();
    this.#options.clock.clearTimeout(this.#retry);
    for (const client of this.#beginning.keys()) this.#cancelBeginning(client);
    this.#followers.clear();
    this.#frames = [];
  }

  #follow(client: Client): Follower {
    this.#cancelBeginning(client);
    const known = this.#followers.get(client);
    if (known !== undefined) return known;
    const view = this.#outlookOf(client);
    view.readers++;
    const { revision } = this.#options.catalog.feed;
    const follower = { client, view, revision, hasCopy: false };
    this.#followers.set(client, follower);
    this.#followAll();
    return follower;
  }

  #beginSoon(client: Client): void {
    if (this.#beginning.has(client) || this.#declined.has(client)) return;
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

  #outlookOf(client: Client): SharedOutlook {
    const key = this.#keyOf(client);
    const known = this.#outlooks.get(key);
    if (known !== undefined) return known;
    const name = String(++this.#outlooksMade);
    const outlook =
      key === undefined
        ? new Outlook(name)
        : new Outlook(name, (type) => key.extent("read", type));
    const view = { outlook, key, readers: 0 };
    this.#outlooks.set(key, view);
    return view;
  }

  /** Undefined: everything may be seen. */
  #keyOf(client: Client): Rights | undefined {
    if (client.session === undefined) return undefined;
    const rights = client.session.user()?.rights ?? Rights.none;
    const { types } = this.#options.catalog;
    return types.every((type) => rights.extent("read", type) === "all")
      ? undefined
      : rights;
  }

  /** Changes are told of classes that somebody looks at; from now on that is all of them. */
  #followAll(): void {
    if (this.#followsAll) return;
    this.#followsAll = true;
    const { catalog, logger } = this.#options;
    for (const type of catalog.types)
      catalog.follow(catalog.classOf(type)!).catch((error: unknown) => {
        logger.debug(`changes of ${type} are not told`, { error });
      });
  }

  #onFrame(frame: Frame): void {
    if (this.#followers.size === 0) {
      this.#frames = [];
      this.#encoded = frame.last;
      return;
    }
    this.#frames.push(frame);
    this.#deliver();
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
    for (const { outlook } of this.#outlooks.values())
      for (let part = 0; part < Outlook.partsOf(frame); part++) {
        outlook.messages(frame, part);
        yield;
      }
  }

  /** Tells a follower what it has room for. */
  #advance(follower: Follower): void {
    const { feed } = this.#options.catalog;
    const { epoch } = feed;
    const { session } = follower.client;
    if (session !== undefined && session.user() === undefined) {
      this.forget(follower.client);
      return;
    }
    const frames = feed.since({ epoch, revision: follower.revision });
    if (frames === "resync") {
      this.forget(follower.client);
      follower.client.close("too slow, list the objects anew");
      return;
    }
    for (const frame of frames) {
      if (frame.last > this.#encoded) return;
      if (!tell(follower, frame)) {
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

/** False: no room, some or all of it is still to be told. */
function tell(follower: Follower, frame: Frame): boolean {
  const { client, view } = follower;
  let part = Outlook.partAt(
    frame,
    Math.max(frame.first, follower.revision + 1),
  );
  for (; part < Outlook.partsOf(frame); part++) {
    for (const message of view.outlook.messages(frame, part))
      if (!client.trySend(message)) return false;
    follower.revision = Outlook.lastRevision(frame, part);
  }
  return true;
}
