import type { Json } from "@xo-server/kit";

/** A provider as `signInProvider.getAll` returns it. */
export interface Provider {
  readonly id: "ldap" | "oidc" | "saml";
  readonly source: "config" | "database" | "none";
  readonly enabled: boolean;
  readonly hasSecret: boolean;
  readonly configuration: Readonly<Record<string, Json>>;
}

export const ldapFields = [
  "urls",
  "bindDn",
  "base",
  "filter",
  "nameAttribute",
  "idAttribute",
  "groups.base",
  "groups.filter",
  "groups.nameAttribute",
  "groups.memberAttribute",
  "groups.memberIs",
  "adminGroup",
] as const;
export const oidcFields = [
  "issuer",
  "clientId",
  "redirectUrl",
  "label",
  "scopes",
  "nameClaim",
  "groupsClaim",
  "adminGroup",
] as const;
export const samlFields = [
  "signOnUrl",
  "providerEntityId",
  "entityId",
  "callbackUrl",
  "label",
  "idAttribute",
  "nameAttribute",
  "groupsAttribute",
  "adminGroup",
] as const;
type LdapField = (typeof ldapFields)[number];
type OidcField = (typeof oidcFields)[number];
type SamlField = (typeof samlFields)[number];

export const trusts = ["verify", "fingerprint", "insecure"] as const;

/** Values of the form fields; `texts` by path. */
export interface ProviderEntries<Field extends string> {
  enabled: boolean;
  texts: Record<Field, string>;
  /** Empty: the stored secret stays. */
  secret: string;
  linkByName: boolean;
}

interface LdapEntries extends ProviderEntries<LdapField> {
  startTls: boolean;
  trust: (typeof trusts)[number];
  fingerprint: string;
}
type OidcEntries = ProviderEntries<OidcField>;

interface SamlEntries extends ProviderEntries<SamlField> {
  certificate: string;
}

/** Initial values of the form. The server does not return secrets, so their fields are empty. */
export function toLdapEntries(provider: Provider): LdapEntries {
  const { configuration } = provider;
  return {
    ...toEntries(provider, ldapFields),
    startTls: configuration["startTls"] === true,
    trust:
      trusts.find((one) => one === at(configuration, "tls.trust")) ?? "verify",
    fingerprint: textAt(configuration, "tls.fingerprint"),
  };
}

/** As `toLdapEntries`. */
export function toOidcEntries(provider: Provider): OidcEntries {
  return toEntries(provider, oidcFields);
}

function toEntries<Field extends string>(
  { source, enabled, configuration }: Provider,
  fields: readonly Field[],
): ProviderEntries<Field> {
  const texts = fields.map((field) => [field, textAt(configuration, field)]);
  return {
    // A provider that is set up for the first time is meant to be used.
    enabled: source === "none" || enabled,
    texts: Object.fromEntries(texts) as Record<Field, string>,
    secret: "",
    linkByName: configuration["linkByName"] === true,
  };
}

/** As `toLdapEntries`. */
export function toSamlEntries(provider: Provider): SamlEntries {
  return {
    ...toEntries(provider, samlFields),
    certificate: textAt(provider.configuration, "certificate"),
  };
}

/** The parameter `configuration` of operations. */
export function toLdapConfiguration(
  entries: LdapEntries,
): Readonly<Record<string, Json>> {
  const { urls, ...texts } = entries.texts;
  const groups: Record<string, Json> = {};
  const plain: Record<string, Json> = {};
  for (const [path, value] of Object.entries(texts)) {
    const name = path.replace("groups.", "");
    (name === path ? plain : groups)[name] = value.trim();
  }
  return {
    ...plain,
    urls: urls.split(/[\s,]+/).filter((url) => url !== ""),
    startTls: entries.startTls,
    tls: {
      trust: entries.trust,
      fingerprint:
        entries.trust === "fingerprint" ? entries.fingerprint.trim() : "",
    },
    groups,
    linkByName: entries.linkByName,
    ...(entries.secret === "" ? {} : { bindPassword: entries.secret }),
  };
}

/** The configuration of OpenID Connect for `signInProvider.setOidc`. An empty secret is left out: the server keeps the stored one. */
export function toOidcConfiguration(
  entries: OidcEntries,
): Readonly<Record<string, Json>> {
  return {
    ...toTexts(entries),
    linkByName: entries.linkByName,
    ...(entries.secret === "" ? {} : { clientSecret: entries.secret }),
  };
}

/** The configuration of SAML for `signInProvider.setSaml`. It has no secret: the certificate is public. */
export function toSamlConfiguration(
  entries: SamlEntries,
): Readonly<Record<string, Json>> {
  const { certificate, linkByName } = entries;
  return {
    ...toTexts(entries),
    certificate: certificate.trim(),
    linkByName,
  };
}

function toTexts({
  texts,
}: ProviderEntries<string>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, value.trim()]),
  );
}

function textAt(
  configuration: Provider["configuration"],
  path: string,
): string {
  const value = at(configuration, path);
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? value : "";
}

function at(configuration: Provider["configuration"], path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      configuration,
    );
}
