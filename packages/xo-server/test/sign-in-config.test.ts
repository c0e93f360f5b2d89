import { makeSelfSigned } from "@xo-server/certificate";
import t, { type Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";

/** What is wrong with a config; empty: nothing. */
function problemsOf(t: Test, config: object): string {
  const home = t.testdir({ "config.yaml": JSON.stringify(config) });
  try {
    loadConfig(undefined, {}, { env: {}, cwd: home, home });
    return "";
  } catch (error) {
    const { data } = error as { data: { problems: string[] } };
    return data.problems
      .map((line) => line.replace(/^.*?:\d+: /, ""))
      .join("\n");
  }
}

const ldap = { urls: ["ldaps://127.0.0.1"], base: "dc=example" };
const saml = {
  signOnUrl: "https://id.example/sso",
  providerEntityId: "https://id.example",
  certificate: makeSelfSigned({ commonName: "a", names: ["a"] }).cert,
};
const oidc = { issuer: "https://id.example", clientId: "xo" };
const fingerprint = Array.from({ length: 32 }, () => "AB").join(":");

t.test(
  "incomplete settings of LDAP, OpenID Connect and SAML are reported",
  async (t) => {
    const invalidConfigs: readonly (readonly [
      config: object,
      expected: string,
    ])[] = [
      [{ ldap: { ...ldap, base: "" } }, "ldap.base is missing"],
      [
        { ldap: { ...ldap, filter: "(uid=x)" } },
        "ldap.filter must contain {{name}}",
      ],
      [
        { ldap: { ...ldap, bindDn: "cn=x" } },
        "ldap.bindPassword is missing: required by bindDn",
      ],
      [
        { ldap: { ...ldap, bindPassword: "x", bindPasswordEnv: "Y" } },
        "ldap.bindPassword is configured in more than one way",
      ],
      [{ ldap: { urls: ["http://x"] } }, "ldap.urls[0] must match"],
      [{ ldap: { urls: ["ldap://a:b@x"] } }, "ldap.urls[0] must match"],
      [
        { ldap: { ...ldap, tls: { trust: "fingerprint" } } },
        "ldap.tls.fingerprint must be 64",
      ],
      [
        { ldap: { ...ldap, tls: { fingerprint } } },
        "ldap.tls.fingerprint requires trust: fingerprint",
      ],
      [{ oidc: { issuer: oidc.issuer } }, "oidc.clientId is missing"],
      [
        { saml: { ...saml, signOnUrl: "http://id.example" } },
        "saml.signOnUrl must be an https:// URL",
      ],
      [
        { saml: { ...saml, providerEntityId: "" } },
        "saml.providerEntityId is missing",
      ],
      [{ saml: { ...saml, certificate: "" } }, "saml.certificate is missing"],
      [
        { saml: { ...saml, certificateFile: "/x" } },
        "saml.certificate is configured in more than one way",
      ],
      [
        { saml: { ...saml, certificate: "MIIC" } },
        "saml.certificate has no certificate in PEM format",
      ],
      [
        { saml: { ...saml, certificate: saml.certificate.slice(0, 200) } },
        "saml.certificate has no certificate in PEM format",
      ],
      [
        { saml: { ...saml, certificate: saml.certificate.replace("M", "-N") } },
        "saml.certificate has",
      ],
      [
        { saml: { ...saml, callbackUrl: "javascript:x" } },
        "saml.callbackUrl must be an http",
      ],
      [
        { oidc: { ...oidc, issuer: "http://id.example" } },
        "oidc.issuer must be an https:// URL",
      ],
      [
        { oidc: { ...oidc, issuer: "http://127.0.0.1.example" } },
        "oidc.issuer must be an https:// URL",
      ],
      [
        { oidc: { ...oidc, redirectUrl: "javascript:x" } },
        "oidc.redirectUrl must be an http",
      ],
      [
        { oidc: { ...oidc, clientSecret: "x", clientSecretFile: "/y" } },
        "oidc.clientSecret is configured in more than one way",
      ],
    ];
    for (const [config, expected] of invalidConfigs)
      t.match(problemsOf(t, config), expected, expected);
  },
);

t.test("valid values are accepted", async (t) => {
  for (const config of [
    {},
    { ldap },
    { ldap: { ...ldap, tls: { trust: "fingerprint", fingerprint } } },
    { ldap: { ...ldap, bindDn: "cn=x", bindPasswordFile: "/run/secrets/x" } },
    { oidc },
    { saml },
    { oidc: { ...oidc, issuer: "http://127.0.0.1:1" } },
    { oidc: { ...oidc, issuer: "http://[::1]:1", clientSecretEnv: "X" } },
    // Settings of a disabled provider may be incomplete.
    { ldap: { base: "", filter: "x" }, oidc: { clientId: "" } },
  ])
    t.equal(problemsOf(t, config), "", JSON.stringify(config));
});

t.test(
  "other users who can read a config with secrets are a warning",
  async (t) => {
    for (const config of [
      { ldap: { bindPassword: "x" } },
      { oidc: { clientSecret: "x" } },
    ]) {
      const home = t.testdir({ "config.yaml": JSON.stringify(config) });
      const { warnings } = loadConfig(
        undefined,
        {},
        { env: {}, cwd: home, home },
      );
      t.match(warnings, [/is readable by other users/]);
    }
  },
);
