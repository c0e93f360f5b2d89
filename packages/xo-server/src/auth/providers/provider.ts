/** A user as an external identity provider describes them. */
export interface ExternalIdentity {
  /** Assigned by the provider and never reused for another user. */
  readonly id: string;
  readonly name: string;
  /** Names of the user's groups; undefined: groups are not synchronized. */
  readonly groups: readonly string[] | undefined;
}

/** How identities of a provider map to users of this server. */
export interface ProviderPolicy {
  /** Stored with users and groups: `ldap`, `oidc` or `saml`. */
  readonly provider: string;
  /**
   * Name of a group whose members become administrators while other users lose the
   * permission; empty: the provider does not set permissions.
   */
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
  /** The provider returns it: `state` of OpenID Connect, `RelayState` of SAML. */
  readonly state: string;
}

/** What the browser brings from the provider. */
export interface ProviderResponse {
  /** URL of the callback, with its query. */
  readonly url: string;
  /** Fields of a POST request; empty for GET. */
  readonly fields: Readonly<Record<string, string>>;
  /** Address of the client. */
  readonly address: string;
}

/** A provider at which users sign in in their browser. */
export interface RedirectProvider {
  readonly policy: ProviderPolicy;
  /** @throws XoError PROVIDER_UNAVAILABLE */
  begin(callbackUrl: string): Promise<{
    readonly url: string;
    readonly pending: PendingSignIn;
  }>;
  /** @throws XoError CREDENTIALS_INVALID with a `reason`, PROVIDER_UNAVAILABLE */
  finish(
    response: ProviderResponse,
    pending: PendingSignIn,
  ): Promise<ExternalIdentity>;
  /** Metadata of this server for a provider of SAML, XML. */
  metadata?(callbackUrl: string): string;
}
