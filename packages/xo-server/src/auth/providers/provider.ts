/** A user as an external identity provider describes them. */
export interface ExternalIdentity {
  /** Assigned by the provider, never reused for another user. */
  readonly id: string;
  readonly name: string;
  /** Names of the user's groups; undefined: groups are not synchronized. */
  readonly groups: readonly string[] | undefined;
}

/** How identities of a provider map to users of this server. */
export interface ProviderPolicy {
  /** Stored with users and groups: `ldap` or `oidc`. */
  readonly provider: string;
  /** Its members are admins, other users are not; empty: the provider does not decide. */
  readonly adminGroup: string;
  /** A first sign-in may be linked to an existing user of the same name. */
  readonly linkByName: boolean;
}

/** Verifies user names and passwords. */
export interface Directory {
  readonly policy: ProviderPolicy;
  /**
   * @returns undefined: no such user, or a wrong password
   * @throws XoError PROVIDER_UNAVAILABLE
   */
  verify(name: string, password: string): Promise<ExternalIdentity | undefined>;
}

/** State of a sign-in at a provider; only the browser that started the sign-in has it. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}
