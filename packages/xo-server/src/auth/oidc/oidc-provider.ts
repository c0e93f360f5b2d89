import type { XoError } from "@xo-server/model";
import * as oidc from "openid-client";
import type { Config } from "../../config/config.js";
import type { Logger } from "../../log/logger.js";
import type {
  ExternalIdentity,
  PendingSignIn,
  ProviderPolicy,
  ProviderResponse,
  RedirectProvider,
} from "../providers/provider.js";
import { readConfigSecret } from "../providers/read-secret.js";
import { boundedFetch } from "./bounded-fetch.js";
import { toExternalIdentity } from "./oidc-claims.js";
import { toDiscoveryError, toOidcError } from "./oidc-error.js";

export interface OidcProviderOptions {
  readonly oidc: Config["oidc"];
  readonly logger: Logger;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

interface PendingAuthorization extends PendingSignIn {
  readonly nonce: string;
  readonly verifier: string;
}

/** Discovery document of a provider (OpenID Connect Discovery 1.0, section 3). */
export interface ProviderDescription {
  readonly issuer: string;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
  /** Undefined: not in the document. */
  readonly scopes: readonly string[] | undefined;
  readonly claims: readonly string[] | undefined;
}

/**
 * An OpenID Connect provider: authorization code flow with PKCE, state and nonce.
 * The discovery document is read at the first sign-in and after each failure, so
 * that an unavailable provider does not delay the start of the server.
 */
export class OidcProvider implements RedirectProvider {
  readonly policy: ProviderPolicy;
  readonly #options: OidcProviderOptions;
  #configuration: Promise<oidc.Configuration> | undefined;

  constructor(options: OidcProviderOptions) {
    this.#options = options;
    const { adminGroup, linkByName } = options.oidc;
    this.policy = { provider: "oidc", adminGroup, linkByName };
  }

  /** @throws XoError PROVIDER_UNAVAILABLE */
  async begin(returnUrl: string): Promise<{
    readonly url: string;
    readonly pending: PendingAuthorization;
  }> {
    const pending = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: returnUrl,
      scope: this.#options.oidc.scopes,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, pending };
  }

  /** Reads the discovery document. @throws XoError PROVIDER_UNAVAILABLE */
  async describe(): Promise<ProviderDescription> {
    const metadata = (await this.#discover()).serverMetadata();
    const { issuer, authorization_endpoint, token_endpoint } = metadata;
    return {
      issuer,
      authorizationEndpoint: authorization_endpoint,
      tokenEndpoint: token_endpoint,
      scopes: metadata.scopes_supported,
      claims: metadata.claims_supported,
    };
  }

  /** @throws XoError CREDENTIALS_INVALID with a `reason`, PROVIDER_UNAVAILABLE */
  async finish(
    { url }: ProviderResponse,
    begun: PendingSignIn,
  ): Promise<ExternalIdentity> {
    const pending = begun as PendingAuthorization;
    const configuration = await this.#discover();
    return this.#try(async () => {
      const tokens = await oidc.authorizationCodeGrant(
        configuration,
        new URL(url),
        {
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          pkceCodeVerifier: pending.verifier,
          idTokenExpected: true,
        },
      );
      return this.#toIdentity(configuration, tokens);
    });
  }

  async #toIdentity(
    configuration: oidc.Configuration,
    tokens: Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>,
  ): Promise<ExternalIdentity> {
    const { nameClaim, groupsClaim } = this.#options.oidc;
    const claims = tokens.claims()!;
    const isComplete = [nameClaim, groupsClaim].every(
      (claim) => claim === "" || Object.hasOwn(claims, claim),
    );
    const hasUserInfo =
      configuration.serverMetadata().userinfo_endpoint !== undefined;
    const others =
      isComplete || !hasUserInfo
        ? {}
        : await oidc.fetchUserInfo(
            configuration,
            tokens.access_token,
            claims.sub,
          );
    return toExternalIdentity({ ...others, ...claims }, this.#options.oidc);
  }

  #discover(): Promise<oidc.Configuration> {
    // It logs its failure, and the next sign-in discovers again.
    this.#configuration ??= this.#try(async () => {
      const { oidc: config, env } = this.#options;
      const secret = await readConfigSecret(config, "clientSecret", env);
      const execute = [oidc.enableNonRepudiationChecks];
      // The config accepts http: for localhost only.
      if (config.issuer.startsWith("http:"))
        execute.push(oidc.allowInsecureRequests);
      return oidc.discovery(
        new URL(config.issuer),
        config.clientId,
        secret === "" ? undefined : secret,
        secret === "" ? oidc.None() : undefined,
        {
          timeout: config.timeoutMs / 1000,
          [oidc.customFetch]: boundedFetch,
          execute,
        },
      );
    }, toDiscoveryError);
    return this.#configuration;
  }

  async #try<T>(
    work: () => Promise<T>,
    toKnown: (error: unknown) => XoError = toOidcError,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const known = toKnown(error);
      if (known.code !== "CREDENTIALS_INVALID") this.#configuration = undefined;
      this.#options.logger.warn("OpenID Connect sign-in failed", {
        error,
        reason: known.data["reason"],
      });
      throw known;
    }
  }
}
