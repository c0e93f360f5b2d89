import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Credentials } from "./authenticator.js";
import type { Directory } from "../providers/provider.js";
import type { ExternalProviders } from "./external-providers.js";
import type { ExternalUsers } from "../users/external-users.js";

interface PasswordVerifierOptions {
  readonly store: Pick<Store, "users" | "catchUp">;
  readonly externalUsers: ExternalUsers;
  /** Without a directory all passwords are local. */
  readonly providers: Pick<ExternalProviders, "directory">;
}

/** Provider name of local passwords in the audit log. */
const LOCAL = "password";

/** The user of a verified password, and the provider that verified it. */
export interface VerifiedUser {
  readonly user: User;
  readonly provider: string;
}

/** Verifies a password against the local hash, then against the directory. */
export class PasswordVerifier {
  readonly #options: PasswordVerifierOptions;

  constructor(options: PasswordVerifierOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined: neither accepts the password
   * @throws XoError PROVIDER_UNAVAILABLE when only the directory could verify it;
   *   errors of ExternalUsers.signIn
   */
  async verify({
    name,
    password,
  }: Credentials): Promise<VerifiedUser | undefined> {
    const { store, providers, externalUsers } = this.#options;
    const { directory } = providers;
    // Another server may have just created the user. Also for known names, so that the time does not show which ones are.
    await store.catchUp();
    const known = store.users.findByName(name);
    if (directory === undefined || !isExternalOnly(known, directory)) {
      const user = await store.users.verifyPassword(name, password);
      if (user !== undefined) return { user, provider: LOCAL };
    }
    if (directory === undefined || isLocalOnly(known, directory))
      return undefined;
    const identity = await this.#queryDirectory(
      directory,
      { name, password },
      known,
    );
    if (identity === undefined) return undefined;
    const { policy } = directory;
    const user = await externalUsers.signIn(identity, policy);
    return { user, provider: policy.provider };
  }

  /** The providers that verify the password of a name, separated by commas. */
  providersOf(name: string): string {
    const { store, providers } = this.#options;
    const { directory } = providers;
    const known = store.users.findByName(name);
    if (directory === undefined || isLocalOnly(known, directory)) return LOCAL;
    const { provider } = directory.policy;
    return isExternalOnly(known, directory)
      ? provider
      : `${LOCAL}, ${provider}`;
  }

  /** While the directory is unavailable, a wrong local password still counts as a failure. */
  async #queryDirectory(
    directory: Directory,
    { name, password }: Credentials,
    known: User | undefined,
  ) {
    try {
      return await directory.verify(name, password);
    } catch (error) {
      if (known?.hasPassword === true && isUnavailable(error)) return undefined;
      throw error;
    }
  }
}

/** The user has no local password and is linked to the directory. */
function isExternalOnly(
  user: User | undefined,
  { policy }: Directory,
): boolean {
  return (
    user !== undefined && !user.hasPassword && isLinked(user, policy.provider)
  );
}

/** The directory cannot sign in this user. */
function isLocalOnly(user: User | undefined, { policy }: Directory): boolean {
  return (
    user !== undefined && !isLinked(user, policy.provider) && !policy.linkByName
  );
}

function isLinked({ authProviders }: User, provider: string): boolean {
  return Object.hasOwn(authProviders, provider);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof XoError && error.code === "PROVIDER_UNAVAILABLE";
}
