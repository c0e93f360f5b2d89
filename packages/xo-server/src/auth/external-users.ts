import { setImmediate } from "node:timers/promises";
import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { ExternalIdentity, ProviderPolicy } from "./providers/provider.js";
import { syncGroups } from "./sync-groups.js";

/** Users that are looked through in one turn of the event loop. */
const USERS_PER_TURN = 500;

export interface ExternalUsersOptions {
  readonly store: Pick<Store, "users" | "groups">;
  readonly logger: Logger;
}

/** Makes users here of people whom a provider elsewhere vouches for, and keeps groups and rights as it says. */
export class ExternalUsers {
  readonly #options: ExternalUsersOptions;

  constructor(options: ExternalUsersOptions) {
    this.#options = options;
  }

  /**
   * @throws XoError CREDENTIALS_INVALID with a `reason` when somebody else
   *   has the name here; what the store throws when something must be changed
   */
  async signIn(
    person: ExternalIdentity,
    policy: ProviderPolicy,
  ): Promise<User> {
    const { store, logger } = this.#options;
    const user =
      (await this.#find(person, policy)) ??
      (await this.#create(person, policy));
    if (person.groups !== undefined)
      await syncGroups(store.groups, {
        userId: user.id,
        provider: policy.provider,
        logger,
        names: person.groups,
      });
    await this.#synchronize(user, person, policy);
    return store.users.get(user.id) ?? user;
  }

  /** By the name first, which is one look; all users are looked through when somebody comes first, or was renamed. */
  async #find(
    { id, name }: ExternalIdentity,
    { provider }: ProviderPolicy,
  ): Promise<User | undefined> {
    const { users } = this.#options.store;
    const isIt = (user: User) => externalIdOf(user, provider) === id;
    const named = users.findByName(name);
    if (named !== undefined && isIt(named)) return named;
    let seen = 0;
    for (const user of users.list()) {
      if (isIt(user)) return user;
      if (++seen % USERS_PER_TURN === 0) await setImmediate();
    }
    return undefined;
  }

  async #create(
    person: ExternalIdentity,
    { provider, linkByName }: ProviderPolicy,
  ): Promise<User> {
    const { store, logger } = this.#options;
    const { id, name } = person;
    const named = store.users.findByName(name);
    if (named === undefined)
      return store.users.create({ name, authProviders: { [provider]: id } });
    // Whoever was known to the provider by this name before is somebody else.
    if (!linkByName || externalIdOf(named, provider) !== undefined) {
      logger.warn(`${provider} knows a ${name} who is not the user here`);
      throw new XoError("CREDENTIALS_INVALID", {
        reason: `there is a user ${name} here who does not sign in by ${provider}`,
      });
    }
    return store.users.update(named.id, {
      authProviders: { ...named.authProviders, [provider]: id },
    });
  }

  /** Name and permission are as the provider says, but for users who have a password here. */
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
    if (Object.keys(patch).length > 0) await users.update(user.id, patch);
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
