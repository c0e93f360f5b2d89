import type { Config } from "./config.js";
import { findCertificateProblem } from "./certificate-problem.js";
import type { ConfigProblem } from "./config-problem.js";

type SignInConfig = Pick<Config, "ldap" | "oidc" | "saml">;

/** Checks of `ldap`, `oidc` and `saml` that a schema cannot express. */
export function checkSignIn({
  ldap,
  oidc,
  saml,
}: SignInConfig): ConfigProblem[] {
  return [
    ...(ldap.urls.length === 0 ? [] : checkLdap(ldap)),
    ...(oidc.issuer === "" ? [] : checkOidc(oidc)),
    ...(saml.signOnUrl === "" ? [] : checkSaml(saml)),
  ];
}

/**
 * Whether the configuration file contains a password or a client secret, so that
 * others must not read it.
 */
export function holdsSignInSecret({
  ldap,
  oidc,
}: Pick<Config, "ldap" | "oidc">): boolean {
  return ldap.bindPassword !== "" || oidc.clientSecret !== "";
}

function checkLdap(ldap: Config["ldap"]): ConfigProblem[] {
  const { tls, bindPassword, bindPasswordFile, bindPasswordEnv } = ldap;
  const ways = count(bindPassword, bindPasswordFile, bindPasswordEnv);
  const isPinned = tls.trust === "fingerprint";
  const isPin = /^([0-9A-F]{2}:?){31}[0-9A-F]{2}$/i.test(tls.fingerprint);
  return toProblems("ldap", [
    [ldap.base === "", "base", "is missing: the base DN of the user search"],
    [!ldap.filter.includes("{{name}}"), "filter", "must contain {{name}}"],
    [ways > 1, "bindPassword", "is configured in more than one way"],
    [
      ways === 0 && ldap.bindDn !== "",
      "bindPassword",
      "is missing: required by bindDn",
    ],
    [isPinned && !isPin, "tls.fingerprint", "must be 64 hexadecimal digits"],
    [
      !isPinned && tls.fingerprint !== "",
      "tls.fingerprint",
      "requires trust: fingerprint",
    ],
  ]);
}

function checkOidc(oidc: Config["oidc"]): ConfigProblem[] {
  const { clientSecret, clientSecretFile, clientSecretEnv } = oidc;
  const ways = count(clientSecret, clientSecretFile, clientSecretEnv);
  const { issuer, redirectUrl } = oidc;
  return toProblems("oidc", [
    [oidc.clientId === "", "clientId", "is missing"],
    [ways > 1, "clientSecret", "is configured in more than one way"],
    [!isSafe(issuer), "issuer", "must be an https:// URL"],
    [
      redirectUrl !== "" && !isHttp(redirectUrl),
      "redirectUrl",
      "must be an http:// or https:// URL",
    ],
  ]);
}

function checkSaml(saml: Config["saml"]): ConfigProblem[] {
  const { certificate, certificateFile, callbackUrl } = saml;
  const ways = count(certificate, certificateFile);
  const problem =
    certificate === "" ? undefined : findCertificateProblem(certificate);
  return toProblems("saml", [
    [!isSafe(saml.signOnUrl), "signOnUrl", "must be an https:// URL"],
    [saml.providerEntityId === "", "providerEntityId", "is missing"],
    [saml.entityId === "", "entityId", "is missing"],
    [ways === 0, "certificate", "is missing"],
    [ways > 1, "certificate", "is configured in more than one way"],
    [problem !== undefined, "certificate", problem ?? ""],
    [
      callbackUrl !== "" && !isHttp(callbackUrl),
      "callbackUrl",
      "must be an http:// or https:// URL",
    ],
  ]);
}

type Check = readonly [isWrong: boolean, key: string, reason: string];

function toProblems(group: string, checks: readonly Check[]): ConfigProblem[] {
  return checks
    .filter(([isWrong]) => isWrong)
    .map(([, key, reason]) => ({ path: [group, ...key.split(".")], reason }));
}

function count(...ways: readonly string[]): number {
  return ways.filter((way) => way !== "").length;
}

function isHttp(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** HTTPS, or HTTP on the local host. */
function isSafe(address: string): boolean {
  if (!isHttp(address)) return false;
  const { protocol, hostname } = new URL(address);
  return (
    protocol === "https:" ||
    /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  );
}
