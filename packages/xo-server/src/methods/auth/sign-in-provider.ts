import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type {
  LdapInput,
  OidcInput,
  SamlInput,
} from "../../auth/sign-in/provider-settings.js";
import { LdapConfig } from "../../config/ldap-config.js";
import { OidcConfig } from "../../config/oidc-config.js";
import { SamlConfig } from "../../config/saml-config.js";
import { defineOperation } from "../definition/define-operation.js";

const Provider = Type.Object({
  id: Type.String({
    description: "Id of the sign-in method: password, ldap, oidc or saml.",
  }),
  name: Type.String({ description: "Label." }),
  kind: Type.String({
    description:
      "password: sign-in with name and password; redirect: sign-in in the browser, at `url`.",
  }),
  url: Type.Optional(Type.String()),
});

const sessionGetProviders = defineOperation({
  name: "session.getProviders",
  summary: "List the sign-in methods.",
  params: Type.Object({}),
  result: Type.Object({ providers: Type.Array(Provider) }),
  permission: "none",
  rest: {
    method: "get",
    path: "/signin/providers",
    operationId: "GetSignInProviders",
    exposure: "allow",
    example: {
      providers: [
        { id: "password", name: "Password", kind: "password" },
        {
          id: "oidc",
          name: "Example",
          kind: "redirect",
          url: "/signin/oidc",
        },
      ],
    },
  },
  handler(_params, { services }) {
    const { directory, redirects } = services.signIn;
    return {
      providers: [
        { id: "password", name: "Password", kind: "password" },
        ...(directory === undefined
          ? []
          : [{ id: directory, name: "LDAP", kind: "password" }]),
        ...redirects.map((one) => ({
          id: one.id,
          name: one.label,
          kind: "redirect",
          url: `/signin/${one.id}`,
        })),
      ],
    };
  },
});

const closed = { additionalProperties: false } as const;
// Secrets in files and environment variables are for config.yaml only.
const { tls, groups } = LdapConfig.properties;

const LdapSettings = Type.Partial(
  Type.Object({
    ...Type.Omit(LdapConfig, ["bindPasswordFile", "bindPasswordEnv"])
      .properties,
    tls: Type.Partial(Type.Omit(tls, ["caFile"]), closed),
    groups: Type.Partial(groups, closed),
  }),
  {
    ...closed,
    description:
      "As `ldap` of config.yaml. Without bindPassword the stored one is kept, if servers and bindDn are the same.",
  },
);
const OidcSettings = Type.Partial(
  Type.Omit(OidcConfig, ["clientSecretFile", "clientSecretEnv"]),
  {
    ...closed,
    description:
      "As `oidc` of config.yaml. Without clientSecret the stored one is kept, if issuer and clientId are the same.",
  },
);
const SamlSettings = Type.Partial(Type.Omit(SamlConfig, ["certificateFile"]), {
  ...closed,
  description: "As `saml` of config.yaml.",
});
const enabled = Type.Boolean({
  description: "Whether users can sign in with it.",
});
const id = Type.Enum(["ldap", "oidc", "saml"], {
  description: "Provider whose configuration is deleted.",
});
const change = {
  permission: "admin",
  changes: true,
  result: Type.Boolean(),
} as const;

const Setting = Type.Object({
  id: Type.String(),
  source: Type.Enum(["config", "database", "none"], {
    description:
      "config: of config.yaml, which takes precedence and cannot be changed here; none: not configured, the configuration has the defaults.",
  }),
  enabled: Type.Boolean(),
  hasSecret: Type.Boolean(),
  configuration: Type.Record(Type.String(), Type.Unknown(), {
    description: "Without secrets, files and environment variables.",
  }),
});

const signInProviderGetAll = defineOperation({
  name: "signInProvider.getAll",
  summary: "Return the configuration of LDAP, OpenID Connect and SAML.",
  params: Type.Object({}),
  result: Type.Array(Setting),
  permission: "admin",
  handler: (_params, { services }) =>
    (["ldap", "oidc", "saml"] as const).map((one) => {
      const { source, isEnabled, configuration } =
        services.providerSettings.get(one);
      const shown = Object.entries(configuration);
      const isSecret = (key: string) =>
        /^(bindPassword|clientSecret)/.test(key);
      return {
        id: one,
        source,
        enabled: isEnabled,
        hasSecret: shown.some(([key, value]) => isSecret(key) && value !== ""),
        configuration: Object.fromEntries(
          shown.filter(([key]) => !isSecret(key)),
        ),
      };
    }),
});

const signInProviderSetLdap = defineOperation({
  ...change,
  name: "signInProvider.setLdap",
  summary:
    "Set the configuration of LDAP. It is stored encrypted and takes effect immediately.",
  params: Type.Object({ enabled, configuration: LdapSettings }, closed),
  async handler({ enabled: isEnabled, configuration }, { services }) {
    const input = configuration as LdapInput;
    await services.providerSettings.set("ldap", isEnabled, input);
    await services.providers.apply();
    return true;
  },
});

const signInProviderSetOidc = defineOperation({
  ...change,
  name: "signInProvider.setOidc",
  summary:
    "Set the configuration of OpenID Connect. It is stored encrypted and takes effect immediately.",
  params: Type.Object({ enabled, configuration: OidcSettings }, closed),
  async handler({ enabled: isEnabled, configuration }, { services }) {
    const input = configuration as OidcInput;
    await services.providerSettings.set("oidc", isEnabled, input);
    await services.providers.apply();
    return true;
  },
});

const signInProviderSetSaml = defineOperation({
  ...change,
  name: "signInProvider.setSaml",
  summary: "Set the configuration of SAML. It takes effect immediately.",
  params: Type.Object({ enabled, configuration: SamlSettings }, closed),
  async handler({ enabled: isEnabled, configuration }, { services }) {
    const input = configuration as SamlInput;
    await services.providerSettings.set("saml", isEnabled, input);
    await services.providers.apply();
    return true;
  },
});

const signInProviderDelete = defineOperation({
  ...change,
  name: "signInProvider.delete",
  summary:
    "Delete the stored configuration of LDAP, OpenID Connect or SAML. Its users are not deleted, but can no longer sign in with it.",
  params: Type.Object({ id }, closed),
  async handler(params, { services }) {
    await services.providerSettings.delete(params.id);
    await services.providers.apply();
    return true;
  },
});

const signInProviderTestLdap = defineOperation({
  ...change,
  name: "signInProvider.testLdap",
  summary:
    "Test an LDAP configuration, stored or not, with a user name and a password. Creates no user.",
  params: Type.Object(
    {
      configuration: Type.Optional(LdapSettings),
      name: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "User name to search and sign in with.",
      }),
      password: Type.Optional(
        Type.String({
          maxLength: 1_024,
          description:
            "Password of the user. Absent: only the entry of the user is searched.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    dn: Type.Optional(
      Type.String({
        description: "DN of the entry; absent: the user was not found.",
      }),
    ),
    accepted: Type.Boolean({ description: "Whether the password is correct." }),
    name: Type.Optional(Type.String()),
    groups: Type.Optional(Type.Array(Type.String())),
    isAdmin: Type.Optional(
      Type.Boolean({
        description: "Whether the user is a member of adminGroup.",
      }),
    ),
  }),
  async handler({ configuration, name, password }, { services }) {
    const { providerSettings, providers } = services;
    const settings =
      configuration === undefined
        ? providerSettings.get("ldap").configuration
        : providerSettings.resolve("ldap", configuration);
    if (settings.urls.length === 0)
      throw new XoError("INVALID_PARAMETERS", {
        reason: "ldap.urls is empty: add the URL of a server",
      });
    const directory = await providers.tryDirectory(settings);
    const dn = await directory.find(name);
    if (dn === undefined) return { accepted: false };
    const identity =
      password === undefined
        ? undefined
        : await directory.verify(name, password);
    if (identity === undefined) return { dn, accepted: false };
    const { adminGroup } = settings;
    return {
      dn,
      accepted: true,
      name: identity.name,
      ...(identity.groups === undefined
        ? {}
        : { groups: [...identity.groups] }),
      ...(adminGroup === ""
        ? {}
        : { isAdmin: identity.groups?.includes(adminGroup) === true }),
    };
  },
});

const signInProviderTestOidc = defineOperation({
  ...change,
  name: "signInProvider.testOidc",
  summary:
    "Test an OpenID Connect configuration, stored or not: read the discovery document of the provider.",
  params: Type.Object({ configuration: Type.Optional(OidcSettings) }, closed),
  result: Type.Object({
    issuer: Type.String(),
    authorizationEndpoint: Type.Optional(Type.String()),
    tokenEndpoint: Type.Optional(Type.String()),
    unsupportedScopes: Type.Array(Type.String(), {
      description:
        "Configured scopes that the discovery document does not list; empty also if it lists none.",
    }),
    unsupportedClaims: Type.Array(Type.String(), {
      description:
        "Configured claims that the discovery document does not list; empty also if it lists none.",
    }),
  }),
  async handler({ configuration }, { services }) {
    const { providerSettings, providers } = services;
    const settings =
      configuration === undefined
        ? providerSettings.get("oidc").configuration
        : providerSettings.resolve("oidc", configuration);
    if (settings.issuer === "")
      throw new XoError("INVALID_PARAMETERS", {
        reason: "oidc.issuer is missing",
      });
    const provider = await providers.tryProvider(settings);
    const { issuer, authorizationEndpoint, tokenEndpoint, scopes, claims } =
      await provider.describe();
    const missing = (
      requested: string[],
      listed: readonly string[] | undefined,
    ) =>
      listed === undefined
        ? []
        : requested.filter((one) => one !== "" && !listed.includes(one));
    return {
      issuer,
      ...(authorizationEndpoint === undefined ? {} : { authorizationEndpoint }),
      ...(tokenEndpoint === undefined ? {} : { tokenEndpoint }),
      unsupportedScopes: missing(settings.scopes.split(/\s+/), scopes),
      unsupportedClaims: missing(
        [settings.nameClaim, settings.groupsClaim],
        claims,
      ),
    };
  },
});

/** Authentication providers, for the sign-in page and the settings. */
export const signInProviderOperations = [
  sessionGetProviders,
  signInProviderGetAll,
  signInProviderSetLdap,
  signInProviderSetOidc,
  signInProviderSetSaml,
  signInProviderDelete,
  signInProviderTestLdap,
  signInProviderTestOidc,
];
