import { XoError } from "@xo-server/model";
import type { Store, User } from "@xo-server/store";
import type { Credentials } from "./authenticator.js";
import type { Directory } from "./directory.js";
import type { ForeignPeople } from "./foreign-people.js";

export interface PasswordCheckOptions {
  readonly store: Pick<Store, "users">;
  readonly foreignPeople: ForeignPeople;
  /** Absent: all passwords are here. */
  readonly directory?: Directory | undefined;
}

/** The provider of passwords that are kept here. */
const OWN = "password";

/** Whose a password is, here or in a directory. */
export interface Verified {
  readonly user: User;
  readonly provider: string;
}

/** A password is held against the one that is kept here, then against the directory's. */
export class PasswordCheck {
  readonly #options: PasswordCheckOptions;

  constructor(options: PasswordCheckOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined: it is neither's
   * @throws XoError PROVIDER_UNAVAILABLE when only the directory could tell,
   *   and what ForeignPeople.admit throws
   */
  async verify({ name, password }: Credentials): Promise<Verified | undefined> {
    const { store, directory, foreignPeople } = this.#options;
    const known = store.users.findByName(name);
    if (directory === undefined || !isOnlyThere(known, directory)) {
      const user = await store.users.verifyPassword(name, password);
      if (user !== undefined) return { user, provider: OWN };
    }
    if (directory === undefined || isOnlyHere(known, directory))
      return undefined;
    const person = await this.#ask(directory, { name, password }, known);
    if (person === undefined) return undefined;
    const { policy } = directory;
    const user = await foreignPeople.admit(person, policy);
    return { user, provider: policy.provider };
  }

  /** Which of them is asked about a name; those that are told apart by a comma. */
  providersOf(name: string): string {
    const { store, directory } = this.#options;
    const known = store.users.findByName(name);
    if (directory === undefined || isOnlyHere(known, directory)) return OWN;
    const { provider } = directory.policy;
    return isOnlyThere(known, directory) ? provider : `${OWN}, ${provider}`;
  }

  /** While the directory is away, a wrong password of our own is still a wrong one: it is counted. */
  async #ask(
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
function isOnlyThere(user: User | undefined, { policy }: Directory): boolean {
  return (
    user !== undefined && !user.hasPassword && isLinked(user, policy.provider)
  );
}

/** The directory cannot let anybody be this user. */
function isOnlyHere(user: User | undefined, { policy }: Directory): boolean {
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
