import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { checkSignIn } from "../../config/check-sign-in.js";
import type { Config } from "../../config/config.js";

type SignInConfig = Pick<Config, "ldap" | "oidc" | "saml">;
type ProviderId = keyof SignInConfig;

/** Input for a provider; absent members get the defaults of config.yaml. */
export type LdapInput = Partial<
  Omit<Config["ldap"], "tls" | "groups"> & {
    readonly tls: Partial<Config["ldap"]["tls"]>;
    readonly groups: Partial<Config["ldap"]["groups"]>;
  }
>;
export type OidcInput = Partial<Config["oidc"]>;
export type SamlInput = Partial<Config["saml"]>;
interface Inputs {
  readonly ldap: LdapInput;
  readonly oidc: OidcInput;
  readonly saml: SamlInput;
}

/** Source of a configuration; config.yaml takes precedence over the database. */
type ProviderSource = "config" | "database" | "none";

interface ProviderState<Id extends ProviderId = ProviderId> {
  readonly source: ProviderSource;
  readonly isEnabled: boolean;
  readonly configuration: SignInConfig[Id];
}

/** Keys in the table of plug-ins: those that Xen Orchestra uses for the same providers. */
const ROWS = {
  ldap: "auth-ldap",
  oidc: "auth-oidc",
  saml: "auth-saml",
} as const;
const SECRETS = {
  ldap: "bindPassword",
  oidc: "clientSecret",
  // Requests are not signed.
  saml: undefined,
} as const;

/** Configurations of external identity providers: of config.yaml, or encrypted in the database. */
export class ProviderSettings {
  readonly #store: Pick<Store, "plugins" | "users">;
  readonly #config: SignInConfig;

  constructor(store: Pick<Store, "plugins" | "users">, config: SignInConfig) {
    this.#store = store;
    this.#config = config;
  }

  get<Id extends ProviderId>(id: Id): ProviderState<Id> {
    if (this.#isInConfig(id))
      return {
        source: "config",
        isEnabled: true,
        configuration: this.#config[id],
      };
    const stored = this.#store.plugins.configuration(ROWS[id]);
    const isEnabled = this.#store.plugins.get(ROWS[id])?.autoload === true;
    return stored === undefined
      ? {
          source: "none",
          isEnabled: false,
          configuration: this.#config[id],
        }
      : {
          source: "database",
          isEnabled,
          configuration: this.#complete(id, stored as Inputs[Id]),
        };
  }

  /** The configuration of a provider that is enabled; undefined: it is not. */
  effective<Id extends ProviderId>(id: Id): SignInConfig[Id] | undefined {
    const { isEnabled, configuration } = this.get(id);
    return isEnabled ? configuration : undefined;
  }

  /**
   * Completes an input. If the secret is absent or empty, that of the stored
   * configuration is used, provided that server and account are the same.
   * @throws XoError INVALID_PARAMETERS
   */
  resolve<Id extends ProviderId>(id: Id, input: Inputs[Id]): SignInConfig[Id] {
    const complete = this.#keepSecret(id, this.#complete(id, input));
    const [problem] = checkSignIn({ ...this.#config, [id]: complete });
    if (problem !== undefined) {
      const reason = `${problem.path.join(".")} ${problem.reason}`;
      throw new XoError("INVALID_PARAMETERS", { reason });
    }
    return complete;
  }

  #keepSecret<Id extends ProviderId>(
    id: Id,
    requested: SignInConfig[Id],
  ): SignInConfig[Id] {
    const key = SECRETS[id];
    if (key === undefined) return requested;
    const { source, configuration: before } = this.get(id);
    const isSame =
      source === "database" && serverOf(id, before) === serverOf(id, requested);
    const hasSecret = (requested as Record<string, unknown>)[key] !== "";
    return hasSecret || !isSame
      ? requested
      : { ...requested, [key]: (before as never)[key] };
  }

  /** @throws XoError UNSUPPORTED, INVALID_PARAMETERS, LAST_ADMIN */
  async set<Id extends ProviderId>(
    id: Id,
    isEnabled: boolean,
    input: Inputs[Id],
  ): Promise<void> {
    this.#checkEditable(id);
    if (!isEnabled) this.#checkAdmins();
    const configuration = this.resolve(id, input);
    await this.#store.plugins.set(ROWS[id], {
      autoload: isEnabled,
      configuration,
    });
  }

  /** @throws XoError UNSUPPORTED, LAST_ADMIN */
  async delete(id: ProviderId): Promise<void> {
    this.#checkEditable(id);
    this.#checkAdmins();
    await this.#store.plugins.set(ROWS[id], {
      autoload: false,
      configuration: undefined,
    });
  }

  /** Checks that an administrator with a local password remains without the provider. */
  #checkAdmins(): void {
    const admins = Array.from(this.#store.users.list()).filter(
      ({ permission }) => permission === "admin",
    );
    if (!admins.some(({ hasPassword }) => hasPassword))
      throw new XoError("LAST_ADMIN", { name: admins[0]?.name ?? "" });
  }

  #isInConfig(id: ProviderId): boolean {
    const { ldap, oidc, saml } = this.#config;
    const isIn = {
      ldap: ldap.urls.length > 0,
      oidc: oidc.issuer !== "",
      saml: saml.signOnUrl !== "",
    };
    return isIn[id];
  }

  #checkEditable(id: ProviderId): void {
    if (this.#isInConfig(id))
      throw new XoError("UNSUPPORTED", {
        what: "the change",
        reason: `${id} is configured in config.yaml`,
      });
  }

  #complete<Id extends ProviderId>(
    id: Id,
    input: Inputs[Id],
  ): SignInConfig[Id] {
    const { ldap, oidc, saml } = this.#config;
    // Secrets in files and environment variables are for config.yaml only: users of
    // the page must not read files of the server.
    if (id === "oidc")
      return {
        ...oidc,
        clientSecret: "",
        ...input,
        clientSecretFile: "",
        clientSecretEnv: "",
      } as SignInConfig[Id];
    if (id === "saml")
      return { ...saml, ...input, certificateFile: "" } as SignInConfig[Id];
    const { tls, groups, ...rest } = input as LdapInput;
    return {
      ...ldap,
      bindPassword: "",
      ...rest,
      tls: { ...ldap.tls, ...tls },
      groups: { ...ldap.groups, ...groups },
      bindPasswordFile: "",
      bindPasswordEnv: "",
    } as SignInConfig[Id];
  }
}

/** Identifies the server that a secret is for; the secret is never sent to another one. */
function serverOf(id: ProviderId, configuration: unknown): string {
  if (id === "ldap") {
    const { urls, startTls, tls, bindDn } = configuration as Config["ldap"];
    return JSON.stringify([urls, startTls, tls, bindDn]);
  }
  const { issuer, clientId } = configuration as Config["oidc"];
  return JSON.stringify([issuer, clientId]);
}
