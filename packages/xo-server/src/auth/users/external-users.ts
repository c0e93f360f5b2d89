import { setImmediate } from "node:timers/promises";
import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Logger } from "../../log/logger.js";
import type {
  ExternalIdentity,
  ProviderPolicy,
} from "../providers/provider.js";
import { syncGroups } from "./sync-groups.js";

/** Users that are compared before the event loop is yielded. */
const USERS_PER_TURN = 500;

interface ExternalUsersOptions {
  readonly store: Pick<Store, "users" | "groups">;
  readonly logger: Logger;
}

/**
 * Users of external identity providers: created at their first sign-in, with groups and permission
 * synchronized with the provider.
 */
export class ExternalUsers {
  readonly #options: ExternalUsersOptions;

  constructor(options: ExternalUsersOptions) {
    this.#options = options;
  }

  /**
   * @throws XoError CREDENTIALS_INVALID with a `reason` when another user has the
   *   name; errors of the store when a record must be changed
   */
  async signIn(
    identity: ExternalIdentity,
    policy: ProviderPolicy,
  ): Promise<User> {
    const { store, logger } = this.#options;
    const user =
      (await this.#find(identity, policy)) ??
      (await this.#create(identity, policy));
    if (identity.groups !== undefined)
      await syncGroups(store.groups, {
        userId: user.id,
        provider: policy.provider,
        logger,
        names: identity.groups,
      });
    await this.#synchronize(user, identity, policy);
    return store.users.get(user.id) ?? user;
  }

  /**
   * Finds the user by name first, a single lookup; all users are compared at a first sign-in
   * and after a rename.
   */
  async #find(
    { id, name }: ExternalIdentity,
    { provider }: ProviderPolicy,
  ): Promise<User | undefined> {
    const { users } = this.#options.store;
    const isMatch = (user: User) => externalIdOf(user, provider) === id;
    const named = users.findByName(name);
    if (named !== undefined && isMatch(named)) return named;
    let compared = 0;
    for (const user of users.list()) {
      if (isMatch(user)) return user;
      if (++compared % USERS_PER_TURN === 0) await setImmediate();
    }
    return undefined;
  }

  async #create(
    identity: ExternalIdentity,
    { provider, linkByName }: ProviderPolicy,
  ): Promise<User> {
    const { store, logger } = this.#options;
    const { id, name } = identity;
    const named = store.users.findByName(name);
    if (named === undefined)
      return store.users.create({ name, authProviders: { [provider]: id } });
    // A user who is linked to another id of this provider is a different user.
    if (!linkByName || externalIdOf(named, provider) !== undefined) {
      logger.warn(
        `sign-in by ${provider} rejected: user "${name}" exists and is not linked`,
      );
      throw new XoError("CREDENTIALS_INVALID", {
        reason: `user "${name}" exists and is not linked to ${provider}`,
      });
    }
    return store.users.update(named.id, {
      authProviders: { ...named.authProviders, [provider]: id },
    });
  }

  /** Takes over name and permission from the provider, except for users with a local password. */
  async #synchronize(
    user: User,
    { name, groups }: ExternalIdentity,
    { adminGroup }: ProviderPolicy,
  ): Promise<void> {
    if (user.hasPassword) return;
    const { users } = this.#options.store;
    const isFree = users.findByName(name) === undefined;
    const permission = groups?.includes(adminGroup) === true ? "admin" : "none";
    const patch = {
      ...(user.name !== name && isFree ? { name } : {}),
      ...(adminGroup !== "" && user.permission !== permission
        ? ({ permission } as const)
        : {}),
    };
    if (Object.keys(patch).length === 0) return;
    try {
      await users.update(user.id, patch);
    } catch (error) {
      if (!(error instanceof XoError && error.code === "LAST_ADMIN"))
        throw error;
      // Without this check a renamed group would remove the last administrator.
      this.#options.logger.warn(
        `user "${user.name}" is not in the group "${adminGroup}" but stays an admin: no other admin can sign in`,
      );
      if ("name" in patch) await users.update(user.id, { name: patch.name });
    }
  }
}

function externalIdOf(
  { authProviders }: User,
  provider: string,
): string | undefined {
  return Object.hasOwn(authProviders, provider)
    ? authProviders[provider]
    : undefined;
}
