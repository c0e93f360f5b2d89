import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import {
  toSessionKey,
  type SessionKey,
  type StoredSessions,
} from "../auth/sessions/stored-sessions.js";
import {
  toCallContext,
  type Dispatcher,
  type Invocation,
} from "../operations/operation.js";
import { SessionClient } from "../auth/sessions/session-client.js";
import { PATH_PREFIX, type Offers, type PathOwner } from "./one-time-path.js";

interface SharedPathsOptions {
  readonly store: Pick<Store, "oneTimeCalls">;
  readonly sessions: Pick<StoredSessions, "open">;
  readonly dispatcher: Pick<Dispatcher, "call">;
}

interface PublishedPath {
  readonly token: string;
  readonly kind: keyof Offers;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

/** In the database, encrypted. */
interface StoredCall extends Invocation, SessionKey {
  readonly address: string;
}

/**
 * Makes one-time paths valid on all servers of the database: the call of the
 * operation that offered a path is in the database. A server that gets a request for the
 * path of another one, which may have ended, makes this call again, as the same
 * user with the rights that the user has then, and serves what it offers.
 */
export class SharedPaths {
  readonly #options: SharedPathsOptions;

  constructor(options: SharedPathsOptions) {
    this.#options = options;
  }

  /** @returns false: the path is valid on this server only */
  async publish(
    { token, kind, expiresAt }: PublishedPath,
    { user, client, address, invocation }: PathOwner,
  ): Promise<boolean> {
    if (user === undefined || invocation === undefined) return false;
    const { session } = client;
    const call: StoredCall = {
      ...invocation,
      userId: user.id,
      ...(session === undefined ? {} : toSessionKey(session)),
      address,
    };
    const secret = toSecret(token, kind);
    const stored = { secret, userId: user.id, call, expiresAt };
    return this.#withoutStore(false, async () => {
      await this.#options.store.oneTimeCalls.put(stored);
      return true;
    });
  }

  /**
   * Claims a path of this server before it is served.
   * @returns false: another server has served it
   */
  async withdraw(token: string, kind: keyof Offers): Promise<boolean> {
    const { oneTimeCalls } = this.#options.store;
    return this.#withoutStore(true, async () => {
      const call = await oneTimeCalls.take(toSecret(token, kind));
      return call !== undefined;
    });
  }

  /**
   * Offers the path of another server here.
   * @returns its token on this server; undefined: unknown, used or expired, or the session of its owner has ended
   * @throws XoError, XapiError of the operation
   */
  async offerAgain(
    token: string,
    kind: keyof Offers,
  ): Promise<string | undefined> {
    const { store, sessions, dispatcher } = this.#options;
    const call = (await this.#withoutStore(undefined, () =>
      store.oneTimeCalls.take(toSecret(token, kind)),
    )) as StoredCall | undefined;
    if (call === undefined) return undefined;
    const session = await sessions.open(call);
    if (session === undefined) return undefined;
    const { operation, params, address } = call;
    const client = new SessionClient(session);
    const context = toCallContext(client, address, "none");
    const offered = (await dispatcher.call(operation, params, {
      ...context,
      takesPathAtOnce: true,
    })) as { readonly $getFrom?: string; readonly $sendTo?: string };
    const path = kind === "download" ? offered.$getFrom : offered.$sendTo;
    return path?.slice(PATH_PREFIX.length).split("/")[0];
  }

  /** Deletes the paths of a user whose sessions end. */
  async revoke(userId: string): Promise<void> {
    await this.#options.store.oneTimeCalls.deleteOfUser(userId);
  }

  /** @param otherwise the result while the database is unavailable */
  async #withoutStore<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof XoError && error.code === "STORE_UNAVAILABLE")
        return otherwise;
      throw error;
    }
  }
}

/**
 * A request of the other kind (upload instead of download, or the reverse) does not
 * use up a path.
 */
function toSecret(token: string, kind: keyof Offers): string {
  return `${kind} ${token}`;
}
