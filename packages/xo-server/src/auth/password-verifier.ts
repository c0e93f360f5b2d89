import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Credentials } from "./authenticator.js";
import type { Directory } from "./providers/provider.js";
import type { ExternalUsers } from "./external-users.js";

export interface PasswordVerifierOptions {
  readonly store: Pick<Store, "users">;
  readonly externalUsers: ExternalUsers;
  /** Absent: all passwords are here. */
  readonly directory?: Directory | undefined;
}

/** The provider of passwords that are kept here. */
const LOCAL = "password";

/** Whose a password is, here or in a directory. */
export interface VerifiedUser {
  readonly user: User;
  readonly provider: string;
}

/** A password is held against the one that is kept here, then against the directory's. */
export class PasswordVerifier {
  readonly #options: PasswordVerifierOptions;

  constructor(options: PasswordVerifierOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined: it is neither's
   * @throws XoError PROVIDER_UNAVAILABLE when only the directory could tell,
   *   and what ForeignPeople.admit throws
   */
  async verify({
    name,
    password,
  }: Credentials): Promise<VerifiedUser | undefined> {
    const { store, directory, externalUsers: foreignPeople } = this.#options;
    const known = store.users.findByName(name);
    if (directory === undefined || !isExternalOnly(known, directory)) {
      const user = await store.users.verifyPassword(name, password);
      if (user !== undefined) return { user, provider: LOCAL };
    }
    if (directory === undefined || isLocalOnly(known, directory))
      return undefined;
    const person = await this.#queryDirectory(
      directory,
      { name, password },
      known,
    );
    if (person === undefined) return undefined;
    const { policy } = directory;
    const user = await foreignPeople.signIn(person, policy);
    return { user, provider: policy.provider };
  }

  /** Which of them is asked about a name; those that are told apart by a comma. */
  providersOf(name: string): string {
    const { store, directory } = this.#options;
    const known = store.users.findByName(name);
    if (directory === undefined || isLocalOnly(known, directory)) return LOCAL;
    const { provider } = directory.policy;
    return isExternalOnly(known, directory)
      ? provider
      : `${LOCAL}, ${provider}`;
  }

  /** While the directory is away, a wrong password of our own is still a wrong one: it is counted. */
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

/** Nothing is here that a password could be held against. */
function isExternalOnly(
  user: User | undefined,
  { policy }: Directory,
): boolean {
  return (
    user !== undefined && !user.hasPassword && isLinked(user, policy.provider)
  );
}

/** The directory cannot let anybody be this user. */
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
