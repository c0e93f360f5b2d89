import type { Store } from "@xo-server/store";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { RedirectSignIn } from "./authenticator.js";
import type {
  LdapDirectory,
  LdapDirectoryOptions,
} from "./ldap/ldap-directory.js";
import type {
  OidcProvider,
  OidcProviderOptions,
} from "./oidc/oidc-provider.js";
import type { ProviderSettings } from "./provider-settings.js";
import {
  ProviderSignIn,
  type ProviderSignInOptions,
} from "./provider-sign-in.js";
import type { Directory } from "./providers/provider.js";

export interface ExternalProvidersOptions
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
  #applying: Promise<void> = Promise.resolve();
  #directory: { of: Config["ldap"]; value: Directory } | undefined;
  #redirect: { of: Config["oidc"]; value: RedirectSignIn } | undefined;

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

  /** Verifies passwords besides the local ones. */
  get directory(): Directory | undefined {
    return this.#directory?.value;
  }

  get redirect(): RedirectSignIn | undefined {
    return this.#redirect?.value;
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

  /** A directory that is not in use, to try a configuration. */
  async tryDirectory(ldap: Config["ldap"]): Promise<LdapDirectory> {
    const { clock, logger, env } = this.#options;
    return createDirectory({ ldap, clock, logger, env });
  }

  /** A provider that is not in use, to try a configuration. */
  async tryProvider(oidc: Config["oidc"]): Promise<OidcProvider> {
    const { logger, env } = this.#options;
    return createProvider({ oidc, logger, env });
  }

  async #apply(): Promise<void> {
    const { settings, externalUsers, sessions, log } = this.#options;
    const ldap = settings.effective("ldap");
    if (!isEqual(ldap, this.#directory?.of)) {
      this.#warnOfClearText(ldap);
      this.#directory = ldap && {
        of: ldap,
        value: await this.tryDirectory(ldap),
      };
    }
    const oidc = settings.effective("oidc");
    if (isEqual(oidc, this.#redirect?.of)) return;
    this.#redirect = oidc && {
      of: oidc,
      value: new ProviderSignIn({
        oidc,
        externalUsers,
        sessions,
        log,
        provider: await this.tryProvider(oidc),
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
  const { LdapDirectory } = await import("./ldap/ldap-directory.js");
  return new LdapDirectory(options);
}

async function createProvider(options: OidcProviderOptions) {
  const { OidcProvider } = await import("./oidc/oidc-provider.js");
  return new OidcProvider(options);
}
