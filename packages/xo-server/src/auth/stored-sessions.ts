import type { WallClock } from "@xo-server/kit";
import type { Store, Token } from "@xo-server/store";
import type { AuthenticatedUsers } from "./authenticated-users.js";
import type { Session } from "./session.js";

export interface StoredSessionsOptions {
  readonly store: Pick<Store, "tokens" | "catchUp">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly clock: Pick<WallClock, "now">;
}

/**
 * Sessions of users and tokens in the database. A token that another server has
 * just created is not known here yet: then the store catches up first.
 */
export class StoredSessions {
  readonly #options: StoredSessionsOptions;

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  /** @param tokenId absent: signed in by password or by a provider; the session ends with the user */
  of({ userId, tokenId }: Pick<Session, "userId" | "tokenId">): Session {
    const { store, users, clock } = this.#options;
    if (tokenId === undefined) return { userId, user: () => users.get(userId) };
    return {
      userId,
      tokenId,
      user() {
        const token = store.tokens.get(tokenId);
        return token !== undefined && token.expiresAt > clock.now()
          ? users.get(userId)
          : undefined;
      },
    };
  }

  /** @returns undefined: the session has ended */
  async open(
    stored: Pick<Session, "userId" | "tokenId">,
  ): Promise<Session | undefined> {
    const session = this.of(stored);
    if (session.user() === undefined) await this.#options.store.catchUp();
    return session.user() === undefined ? undefined : session;
  }

  /** @param text of a token @returns undefined: unknown or expired */
  async findToken(text: string): Promise<Token | undefined> {
    const { store, users } = this.#options;
    const known = store.tokens.find(text);
    if (known !== undefined && users.get(known.userId) !== undefined)
      return known;
    await store.catchUp();
    return store.tokens.find(text);
  }
}
