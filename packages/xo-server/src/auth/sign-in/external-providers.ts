import type { Store } from "@xo-server/store";
import type { Config } from "../../config/config.js";
import type { Logger } from "../../log/logger.js";
import type { RedirectSignIn } from "./authenticator.js";
import type {
  LdapDirectory,
  LdapDirectoryOptions,
} from "../ldap/ldap-directory.js";
import type {
  OidcProvider,
  OidcProviderOptions,
} from "../oidc/oidc-provider.js";
import type { ProviderSettings } from "./provider-settings.js";
import {
  ProviderSignIn,
  type ProviderSignInOptions,
} from "./provider-sign-in.js";
import type { Directory } from "../providers/provider.js";
import { SignInQueue } from "./sign-in-queue.js";
import type {
  SamlProvider,
  SamlProviderOptions,
} from "../saml/saml-provider.js";

/** Responses of SAML that are verified at a time, each in a thread. */
const MAX_SAML_VERIFICATIONS = 2;

interface ExternalProvidersOptions
  extends
    Pick<LdapDirectoryOptions, "clock" | "env">,
    Pick<ProviderSignInOptions, "externalUsers" | "sessions" | "log"> {
  readonly settings: ProviderSettings;
  readonly store: Pick<Store, "onChange">;
  readonly logger: Logger;
}

/** The external identity providers that are in use; changed settings are applied at once. */
export class ExternalProviders {
  readonly #options: ExternalProvidersOptions;
  readonly #stopListening: () => void;
  readonly #samlQueue = new SignInQueue(MAX_SAML_VERIFICATIONS);
  #applying: Promise<void> = Promise.resolve();
  #directory: { of: Config["ldap"]; value: Directory } | undefined;
  #oidc: { of: Config["oidc"]; value: RedirectSignIn } | undefined;
  #saml: { of: Config["saml"]; value: RedirectSignIn } | undefined;

  static async start(
    options: ExternalProvidersOptions,
  ): Promise<ExternalProviders> {
    const providers = new ExternalProviders(options);
    await providers.apply();
    return providers;
  }

  private constructor(options: ExternalProvidersOptions) {
    this.#options = options;
    this.#stopListening = options.store.onChange((table) => {
      if (table === "plugins") void this.apply();
    });
  }

  /** Verifies passwords in addition to the local ones; undefined: no directory is configured. */
  get directory(): Directory | undefined {
    return this.#directory?.value;
  }

  get redirects(): readonly RedirectSignIn[] {
    return [this.#oidc, this.#saml].flatMap((one) => one?.value ?? []);
  }

  stop(): void {
    this.#stopListening();
  }

  /** Applies the current settings. Never rejects. */
  apply(): Promise<void> {
    this.#applying = this.#applying
      .then(() => this.#apply())
      .catch((error: unknown) => {
        this.#options.logger.warn("identity providers could not be applied", {
          error,
        });
      });
    return this.#applying;
  }

  /** Connects to a directory that is not in use, to test a configuration. */
  async tryDirectory(ldap: Config["ldap"]): Promise<LdapDirectory> {
    const { clock, logger, env } = this.#options;
    return createDirectory({ ldap, clock, logger, env });
  }

  /** Creates a provider that is not in use, to test a configuration. */
  async tryProvider(oidc: Config["oidc"]): Promise<OidcProvider> {
    const { logger, env } = this.#options;
    return createProvider({ oidc, logger, env });
  }

  /** A provider that is not in use, to try a configuration. @throws XoError CONFIG_INVALID */
  async trySaml(saml: Config["saml"]): Promise<SamlProvider> {
    const { logger } = this.#options;
    return createSamlProvider({
      saml,
      logger,
      runInTurn: (key, work) =>
        this.#samlQueue.run({ key, isKnown: false }, work),
    });
  }

  async #apply(): Promise<void> {
    const { settings, externalUsers, sessions, log } = this.#options;
    const parts = { externalUsers, sessions, log };
    const ldap = settings.effective("ldap");
    if (!isEqual(ldap, this.#directory?.of)) {
      this.#warnOfClearText(ldap);
      this.#directory = ldap && {
        of: ldap,
        value: await this.tryDirectory(ldap),
      };
    }
    const oidc = settings.effective("oidc");
    if (!isEqual(oidc, this.#oidc?.of))
      this.#oidc = oidc && {
        of: oidc,
        value: new ProviderSignIn({
          ...parts,
          label: oidc.label,
          returnUrl: oidc.redirectUrl,
          provider: await this.tryProvider(oidc),
        }),
      };
    const saml = settings.effective("saml");
    if (!isEqual(saml, this.#saml?.of))
      this.#saml = saml && {
        of: saml,
        value: new ProviderSignIn({
          ...parts,
          label: saml.label,
          returnUrl: saml.callbackUrl,
          provider: await this.trySaml(saml),
        }),
      };
  }

  #warnOfClearText(ldap: Config["ldap"] | undefined): void {
    if (ldap === undefined || ldap.startTls) return;
    if (ldap.urls.some((url) => url.startsWith("ldap:")))
      this.#options.logger.warn(
        "LDAP without TLS: passwords are sent in clear text",
      );
  }
}

function isEqual(a: object | undefined, b: object | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

// The providers are loaded on demand: their libraries take 100 ms CPU.

async function createDirectory(options: LdapDirectoryOptions) {
  const { LdapDirectory } = await import("../ldap/ldap-directory.js");
  return new LdapDirectory(options);
}

async function createProvider(options: OidcProviderOptions) {
  const { OidcProvider } = await import("../oidc/oidc-provider.js");
  return new OidcProvider(options);
}

async function createSamlProvider(
  options: Omit<SamlProviderOptions, "certificates">,
) {
  const [{ SamlProvider }, { readSigningCertificates }] = await Promise.all([
    import("../saml/saml-provider.js"),
    import("../saml/signing-certificates.js"),
  ]);
  const certificates = await readSigningCertificates(options.saml);
  return new SamlProvider({ ...options, certificates });
}
