import type { WallClock } from "@xo-server/kit";
import { endOfToken, type Store, type Token } from "@xo-server/store";
import { Rights } from "../../rights/rights.js";
import type { AuthenticatedUser } from "../users/authenticated-user.js";
import type { AuthenticatedUsers } from "../users/authenticated-users.js";
import type { SecondFactorPolicy } from "../second-factor/second-factor-policy.js";
import type { SessionLimits } from "./session-limits.js";
import type { Session } from "./session.js";

interface StoredSessionsOptions {
  readonly store: Pick<Store, "tokens" | "catchUp">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly policy: SecondFactorPolicy;
  readonly limits: Pick<SessionLimits, "idleMs" | "lifeMs">;
  readonly clock: Pick<WallClock, "now">;
}

/** What is needed to open a session again, also on another server. */
export type SessionKey = Pick<
  Session,
  "userId" | "tokenId" | "proof" | "begunAt"
>;

/**
 * Sessions of users and tokens in the database. If a token is unknown, because
 * another server has just created it, the cache is refreshed first.
 */
export class StoredSessions {
  readonly #options: StoredSessionsOptions;

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  /**
   * @param key without a token: signed in by password or by a provider; the session ends with the user
   * @param ofPage the page sends calls by itself: it reports uses by session.keepAlive
   */
  of(key: SessionKey, { ofPage = false } = {}): Session {
    const { tokenId } = key;
    return tokenId === undefined
      ? this.#withoutToken(key, ofPage)
      : this.#withToken({ ...key, tokenId }, ofPage);
  }

  /** @returns undefined: the session has ended */
  async open(
    key: SessionKey,
    options?: { readonly ofPage: boolean },
  ): Promise<Session | undefined> {
    const session = this.of(key, options);
    if (session.user() === undefined) await this.#options.store.catchUp();
    return session.user() === undefined ? undefined : session;
  }

  /**
   * Opens the same session again after its user has proven a second factor.
   * @throws XoError STORE_UNAVAILABLE
   */
  async proven(session: Session): Promise<Session> {
    const { tokenId } = session;
    if (tokenId === undefined)
      return this.of({ ...toSessionKey(session), proof: "secondFactor" });
    await this.#options.store.tokens.setProof(tokenId, "secondFactor");
    return session;
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

  #withoutToken(key: SessionKey, ofPage: boolean): Session {
    const { clock, limits } = this.#options;
    const { userId, proof = "", begunAt = clock.now() } = key;
    const { idleMs = Infinity, lifeMs } = limits;
    let usedAt = clock.now();
    const used = () => {
      usedAt = clock.now();
    };
    return {
      userId,
      proof,
      begunAt,
      user: () =>
        Math.min(begunAt + lifeMs, usedAt + idleMs) > clock.now()
          ? this.#user(userId, proof)
          : undefined,
      ...(ofPage ? {} : { used }),
    };
  }

  #withToken(
    { userId, tokenId }: SessionKey & { readonly tokenId: string },
    ofPage: boolean,
  ): Session {
    const { store, clock } = this.#options;
    return {
      userId,
      tokenId,
      get proof() {
        return store.tokens.get(tokenId)?.proof ?? "";
      },
      user: () => {
        const token = store.tokens.get(tokenId);
        return token !== undefined && endOfToken(token) > clock.now()
          ? this.#user(userId, token.proof)
          : undefined;
      },
      ...(ofPage
        ? {}
        : {
            used() {
              if (store.tokens.get(tokenId)?.idleMs !== undefined)
                store.tokens.touch(tokenId);
            },
          }),
    };
  }

  #user(userId: string, proof: Token["proof"]): AuthenticatedUser | undefined {
    const { users, policy } = this.#options;
    const user = users.get(userId);
    if (user === undefined) return undefined;
    const { isAdmin, hasTotp = false } = user;
    const account = {
      permission: isAdmin ? "admin" : "none",
      hasTotp,
    } as const;
    switch (policy.accessOf(account, proof)) {
      case "full":
        return user;
      case "ended":
        return undefined;
      case "setUpOnly":
        return {
          ...user,
          isAdmin: false,
          rights: Rights.none,
          isSetUpOnly: true,
        };
    }
  }
}

/** The part of a session that later checks of it need. */
export function toSessionKey(session: Session): SessionKey {
  const { userId, tokenId, proof, begunAt } = session;
  return {
    userId,
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(proof === undefined ? {} : { proof }),
    ...(begunAt === undefined ? {} : { begunAt }),
  };
}
