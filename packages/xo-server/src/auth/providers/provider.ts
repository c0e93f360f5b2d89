/** Somebody as a provider elsewhere knows them. */
export interface ExternalIdentity {
  /** The provider's, never given to somebody else. */
  readonly id: string;
  readonly name: string;
  /** Names of their groups; undefined: the provider is not asked for them. */
  readonly groups: readonly string[] | undefined;
}

/** What signing in somewhere else means here. */
export interface ProviderPolicy {
  /** As users and groups are marked with it: `ldap`. */
  readonly provider: string;
  /** Its members are admins, others are not; empty: that is said here only. */
  readonly adminGroup: string;
  /** A first sign-in may take over a user of the same name. */
  readonly linkByName: boolean;
}

/** Knows people by name and password. */
export interface Directory {
  readonly policy: ProviderPolicy;
  /**
   * @returns undefined: nobody is called so, or the password is another
   * @throws XoError PROVIDER_UNAVAILABLE
   */
  verify(name: string, password: string): Promise<ExternalIdentity | undefined>;
}

/** What a sign-in elsewhere is held against when it comes back: for the browser that began it only. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}
