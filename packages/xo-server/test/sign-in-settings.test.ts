import t from "tap";
import { ProviderSettings } from "../src/auth/sign-in/provider-settings.js";
import { loadConfig } from "../src/config/load-config.js";
import { FakeClock } from "./fake-clock.js";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "./oidc-server.js";
import { SERVICE_PASSWORD, skipLdap, Slapd } from "./slapd.js";
import { SamlIdentityProvider } from "./saml-identity-provider.js";
import { startTestServer } from "./test-server.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

interface Setting {
  readonly id: string;
  readonly source: string;
  readonly enabled: boolean;
  readonly hasSecret: boolean;
  readonly configuration: Record<string, unknown>;
}

t.test("LDAP of the database", { skip: skipLdap }, async (t) => {
  const slapd = await Slapd.start();
  t.teardown(() => slapd.remove());
  const configuration = {
    urls: [slapd.url],
    startTls: false,
    bindDn: "cn=service,dc=example",
    bindPassword: SERVICE_PASSWORD,
    base: "ou=people,dc=example",
  };
  const clock = new FakeClock();
  const server = await startTestServer(t, "", { clock });
  const admin = await (await server.connect()).signIn();
  const read = async () =>
    ((await admin.request("signInProvider.getAll")) as Setting[])[0]!;
  const signIn = async () => {
    // Failed attempts are throttled.
    clock.pass(60_000);
    const client = await server.connect();
    const credentials = { username: "ada", password: "ada-secret" };
    return client.call("session.signIn", credentials);
  };

  await t.test("it is tried before it is stored", async (t) => {
    const test = (name: string, password?: string) =>
      admin.request("signInProvider.testLdap", {
        configuration,
        name,
        password,
      });
    t.match(await test("ada", "ada-secret"), {
      dn: "uid=ada,ou=people,dc=example",
      accepted: true,
      name: "ada",
    });
    t.match(await test("ada", "wrong"), { dn: /ada/, accepted: false });
    t.match(await test("ada"), { dn: /ada/, accepted: false });
    t.same(await test("nobody", "x"), { accepted: false });
    t.match(await signIn(), { error: { code: 3 } }, "nothing is applied");
    t.equal(((await admin.request("user.getAll")) as []).length, 1);
  });

  await t.test("it applies at once, and hides its secret", async (t) => {
    await admin.request("signInProvider.setLdap", {
      enabled: true,
      configuration,
    });
    t.match((await signIn()).result, { email: "ada" });
    const setting = await read();
    t.match(setting, { source: "database", enabled: true, hasSecret: true });
    t.notMatch(JSON.stringify(setting), SERVICE_PASSWORD);
    t.notMatch(server.lines.join(""), SERVICE_PASSWORD);
  });

  await t.test("the secret stays with the server and account", async (t) => {
    const rest = { ...configuration, bindPassword: undefined };
    const set = (change: object) =>
      admin.call("signInProvider.setLdap", {
        enabled: true,
        configuration: { ...rest, ...change },
      });
    t.match(await set({ timeoutMs: 4_000 }), { result: true });
    t.match((await signIn()).result, { email: "ada" });
    t.match(await set({ urls: ["ldap://elsewhere.example"] }), {
      error: { data: { reason: /bindPassword is missing/ } },
    });
    t.match(await set({ base: "" }), {
      error: { data: { reason: /ldap.base is missing/ } },
    });
  });

  await t.test("disabled or deleted, no user signs in by it", async (t) => {
    await admin.request("signInProvider.setLdap", {
      enabled: false,
      configuration,
    });
    t.match(await signIn(), { error: { code: 3 } });
    await admin.request("signInProvider.delete", { id: "ldap" });
    t.match(await read(), { source: "none", enabled: false });
  });
});

t.test("config.yaml takes precedence over the database", async (t) => {
  const ldap = { urls: ["ldap://ldap.example"], base: "dc=example" };
  const server = await startTestServer(t, JSON.stringify({ ldap }));
  const admin = await (await server.connect()).signIn();
  const [first] = (await admin.request("signInProvider.getAll")) as Setting[];
  t.match(first, {
    id: "ldap",
    source: "config",
    enabled: true,
    configuration: ldap,
  });
  const change = { enabled: false, configuration: ldap };
  t.match(await admin.call("signInProvider.setLdap", change), {
    error: { data: { reason: /config.yaml/ } },
  });
});

t.test("the provider of the last administrator is not disabled", async (t) => {
  const users = [{ name: "ada", permission: "admin", hasPassword: false }];
  const stored: unknown[] = [];
  const { config } = loadConfig(
    undefined,
    {},
    { env: {}, cwd: t.testdir(), home: t.testdirName },
  );
  const settings = new ProviderSettings(
    {
      users: { list: () => users.values() },
      plugins: {
        get: () => ({ autoload: true }),
        configuration: () => ({ issuer: "https://id.example", clientId: "xo" }),
        set: async (_id: string, patch: unknown) => {
          stored.push(patch);
        },
      },
    } as never,
    config,
  );
  await t.rejects(settings.delete("oidc"), { code: "LAST_ADMIN" });
  const input = { issuer: "https://id.example", clientId: "xo" };
  await t.rejects(settings.set("oidc", false, input), { code: "LAST_ADMIN" });
  t.same(stored, []);
  users[0]!.hasPassword = true;
  await settings.delete("oidc");
  t.equal(stored.length, 1);
});

t.test("OpenID Connect is checked, stored and offered", async (t) => {
  const provider = await OidcServer.start(t);
  const server = await startTestServer(t);
  provider.register(`http://${server.host}/signin/oidc/callback`);
  const admin = await (await server.connect()).signIn();
  const configuration = {
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scopes: "openid other",
    label: "Example",
  };
  const test = { configuration };
  t.match(await admin.request("signInProvider.testOidc", test), {
    issuer: provider.issuer,
    authorizationEndpoint: String,
    unsupportedScopes: ["other"],
  });
  await admin.request("signInProvider.setOidc", {
    enabled: true,
    configuration,
  });
  const offered = await (await server.get("/rest/v0/signin/providers")).json();
  t.match(offered, { providers: [{}, { id: "oidc", name: "Example" }] });
  provider.isUp = false;
  t.match(await admin.call("signInProvider.testOidc", test), {
    error: { data: { code: "PROVIDER_UNAVAILABLE" } },
  });
  const anonymous = await server.connect();
  t.match(await anonymous.call("signInProvider.getAll"), {
    error: { code: 2 },
  });
});

t.test("SAML is stored and offered", async (t) => {
  const provider = SamlIdentityProvider.create();
  const server = await startTestServer(t);
  const admin = await (await server.connect()).signIn();
  const configuration = {
    signOnUrl: provider.signOnUrl,
    providerEntityId: provider.entityId,
    certificate: provider.certificate,
    label: "Example",
  };
  const set = (change: object, enabled = true) =>
    admin.call("signInProvider.setSaml", {
      enabled,
      configuration: { ...configuration, ...change },
    });
  t.match(await set({ certificate: "MIIC" }), {
    error: {
      data: { reason: "saml.certificate has no certificate in PEM format" },
    },
  });
  t.match(await set({ entityId: "" }), {
    error: { data: { reason: "saml.entityId is missing" } },
  });
  t.match(await set({ certificateFile: "/etc/shadow" }), {
    error: { data: { code: "INVALID_PARAMETERS" } },
  });
  t.match(await set({}), { result: true });
  const begin = () =>
    fetch(`http://${server.host}/signin/saml`, { redirect: "manual" });
  t.match((await begin()).headers.get("location"), provider.signOnUrl);
  const all = (await admin.request("signInProvider.getAll")) as Setting[];
  t.match(all.at(-1), { id: "saml", source: "database", configuration });
  t.match(await set({ label: "Other" }, false), { result: true });
  t.equal((await begin()).status, 404);
  await admin.request("signInProvider.delete", { id: "saml" });
  const after = (await admin.request("signInProvider.getAll")) as Setting[];
  t.match(after.at(-1), { id: "saml", source: "none", enabled: false });
});
