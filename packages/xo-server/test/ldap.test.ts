import t, { type Test } from "tap";
import { FakeClock } from "./fake-clock.js";
import { SERVICE_PASSWORD, skipLdap, Slapd } from "./slapd.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const INVALID = { error: { code: 3 } };
const THROTTLED = { error: { data: { code: "SIGN_IN_THROTTLED" } } };
const UNREACHABLE_PROBLEMS = { error: { code: 28 } };

interface SetUp {
  readonly slapd: Slapd;
  /** Besides what all tests need. */
  readonly ldap?: object;
  readonly clock?: FakeClock;
}

/** A server that asks a directory, and who tries to sign in on it. */
async function setUp(t: Test, { slapd, ldap, clock }: SetUp) {
  const all = {
    urls: [slapd.url],
    startTls: false,
    bindDn: "cn=service,dc=example",
    bindPassword: SERVICE_PASSWORD,
    base: "ou=people,dc=example",
    ...ldap,
  };
  const server = await startTestServer(
    t,
    JSON.stringify({ ldap: all }),
    clock === undefined ? {} : { clock },
  );
  const tryAs = async (username: string, password: string) => {
    const client = await server.connect();
    return client.call("session.signIn", { username, password });
  };
  const admin = async () => (await server.connect()).signIn();
  return { ...server, tryAs, admin };
}

t.test("LDAP", { skip: skipLdap }, async (t) => {
  const slapd = await Slapd.start();
  t.teardown(() => slapd.remove());

  await t.test(
    "the first sign-in creates a user, the second finds it",
    async (t) => {
      const { tryAs, admin } = await setUp(t, { slapd });
      const first = await tryAs("ada", "ada-secret");
      t.match(first.result, { email: "ada", permission: "none", groups: [] });
      const { id, authProviders } = first.result as {
        id: string;
        authProviders: { ldap: { id: string } };
      };
      t.match(authProviders.ldap.id, /^[\da-f-]{36}$/);
      t.match((await tryAs("ADA", "ada-secret")).result, { id }, "in any case");
      const users = await (await admin()).request("user.getAll");
      t.equal((users as unknown[]).length, 2);
    },
  );

  await t.test("wrong, empty and unknown are refused alike", async (t) => {
    const clock = new FakeClock();
    const { tryAs, lines } = await setUp(t, { slapd, clock });
    for (const [name, password] of [
      ["ada", "wrong"],
      ["ada", ""],
      ["ada", "*"],
      ["nobody", "ada-secret"],
    ] as const) {
      t.match(await tryAs(name, password), INVALID, `${name} ${password}`);
      clock.pass(60_000);
    }
    t.notMatch(lines.join(""), /ada-secret|service-secret/);
  });

  await t.test("a name is compared, never read as a filter", async (t) => {
    const clock = new FakeClock();
    const { tryAs, admin } = await setUp(t, {
      slapd,
      clock,
      ldap: { filter: "(&(objectClass=inetOrgPerson)(uid={{name}}))" },
    });
    for (const name of [
      "*",
      "ad*",
      "ada)(uid=*",
      "ada)(objectClass=*",
      "nobody)(|(uid=ada",
      "\\61da",
      "ada\0",
      " ada",
      "ada ",
      "ａda",
      "a\u200bda",
    ]) {
      t.match(await tryAs(name, "ada-secret"), INVALID, JSON.stringify(name));
      clock.pass(60_000);
    }
    t.match(await tryAs("ada", "ada-secret"), { result: { email: "ada" } });
    const users = await (await admin()).request("user.getAll");
    t.equal((users as unknown[]).length, 2);
  });

  await t.test("a name that two users share identifies neither", async (t) => {
    const { tryAs, lines } = await setUp(t, { slapd });
    t.match(await tryAs("twin", "twin-secret"), INVALID);
    t.match(lines.join(""), "LDAP search for a user name is ambiguous");
  });

  await t.test(
    "a user of the same name in the directory does not become a local user",
    async (t) => {
      const { tryAs } = await setUp(t, { slapd });
      t.match(await tryAs("admin", "other-secret"), INVALID);
      t.match(await tryAs("admin", ADMIN_PASSWORD), THROTTLED);
    },
  );

  await t.test("unless the configuration allows it", async (t) => {
    const { tryAs } = await setUp(t, { slapd, ldap: { linkByName: true } });
    t.match(await tryAs("admin", "other-secret"), {
      result: { email: "admin", permission: "admin" },
    });
    t.match(await tryAs("admin", ADMIN_PASSWORD), { result: {} });
  });

  await t.test("groups and administrators follow the directory", async (t) => {
    const ldap = {
      groups: { base: "ou=groups,dc=example" },
      adminGroup: "bosses",
    };
    const { tryAs, admin } = await setUp(t, { slapd, ldap });
    const root = await admin();
    const local = await root.request("group.create", { name: "local" });
    const { result } = await tryAs("ada", "ada-secret");
    const { id: ada } = result as { id: string };
    const groups = async () =>
      (await root.request("group.getAll")) as {
        id: string;
        name: string;
        users: string[];
        provider?: string;
      }[];
    const named = async (name: string) =>
      (await groups()).find((group) => group.name === name)!;
    t.match(await named("operators"), { provider: "ldap", users: [ada] });
    t.match(await named("bosses"), { provider: "ldap", users: [ada] });
    t.match(result, { permission: "admin" });
    t.same((await named("local")).users, [], "ours is not theirs");
    const { id: bosses } = await named("bosses");
    await root.request("group.addUser", { id: local, userId: ada });
    const { result: ben } = await tryAs("ben", "ben-secret");
    const { id: benId } = ben as { id: string };
    await root.request("group.addUser", { id: bosses, userId: benId });
    await root.request("user.set", { id: benId, permission: "admin" });
    const { result: again } = await tryAs("ben", "ben-secret");
    t.match(again, { permission: "none" });
    t.same(
      (again as { groups: string[] }).groups,
      [(await named("operators")).id],
      "what is not in the directory is revoked",
    );
    t.same((await named("local")).users, [ada], "what is ours stays");
  });

  await t.test("the directory cannot remove the last admin", async (t) => {
    const ldap = {
      groups: { base: "ou=groups,dc=example" },
      adminGroup: "bosses",
    };
    const { tryAs, admin, connect, lines } = await setUp(t, { slapd, ldap });
    const root = await admin();
    const { id: rootId } = (await root.request("session.getUser")) as {
      id: string;
    };
    const ben = await connect();
    const signIn = { username: "ben", password: "ben-secret" };
    const { id } = (await ben.request("session.signIn", signIn)) as {
      id: string;
    };
    await root.request("user.set", { id, permission: "admin" });
    await ben.request("user.set", { id: rootId, permission: "none" });
    t.match(await tryAs("ben", "ben-secret"), {
      result: { permission: "admin" },
    });
    t.match(lines.join(""), /"ben" is not in the group "bosses" but stays an/);
    t.match(
      await ben.call("user.removeAuthProvider", { id, authProvider: "ldap" }),
      { error: { data: { code: "LAST_ADMIN" } } },
    );
    await ben.request("user.set", { id: rootId, permission: "admin" });
    t.match(await tryAs("ben", "ben-secret"), {
      result: { permission: "none" },
    });
  });

  await t.test("groups of POSIX name their members by uid", async (t) => {
    const ldap = {
      groups: {
        base: "ou=groups,dc=example",
        filter: "(objectClass=posixGroup)",
        memberAttribute: "memberUid",
        memberIs: "uid",
      },
    };
    const { tryAs, admin } = await setUp(t, { slapd, ldap });
    const { result } = await tryAs("ben", "ben-secret");
    const groups = await (await admin()).request("group.getAll");
    t.match(groups, [{ name: "unix", users: [(result as { id: string }).id] }]);
  });

  await t.test(
    "attempts are throttled like those of local passwords",
    async (t) => {
      const clock = new FakeClock();
      const { tryAs } = await setUp(t, { slapd, clock });
      t.match(await tryAs("ada", "wrong"), INVALID);
      t.match(await tryAs("Ada", "ada-secret"), {
        error: { data: { code: "SIGN_IN_THROTTLED", retryAfterMs: Number } },
      });
      clock.pass(2_000);
      t.match(await tryAs("ada", "ada-secret"), { result: { email: "ada" } });
    },
  );

  await t.test(
    "a user of the directory proves to be it for a second factor",
    async (t) => {
      const { connect } = await setUp(t, { slapd });
      const client = await (await connect()).signIn("ada", "ada-secret");
      const begin = (password: string) =>
        client.call("user.enrolTotp", { password });
      t.match(await begin("ada-secret"), { result: { secret: String } });
      const change = { oldPassword: "ada-secret", newPassword: "mine" };
      t.match(await client.call("user.changePassword", change), {
        error: { code: 10 },
      });
      t.match(await begin("wrong"), INVALID);
    },
  );

  await t.test(
    "a wrong password of the service is logged, not shown to the user",
    async (t) => {
      const { tryAs, lines } = await setUp(t, {
        slapd,
        ldap: { bindPassword: "not-it" },
      });
      t.match(await tryAs("ada", "ada-secret"), UNREACHABLE_PROBLEMS);
      t.match(lines.join(""), "InvalidCredentialsError");
      t.notMatch(lines.join(""), "not-it");
    },
  );
});

t.test("an LDAP server that stops", { skip: skipLdap }, async (t) => {
  const slapd = await Slapd.start();
  t.teardown(() => slapd.remove());
  const { tryAs, admin } = await setUp(t, {
    slapd,
    ldap: { urls: [slapd.url, "ldap://127.0.0.1:1"], timeoutMs: 2000 },
  });
  t.match(await tryAs("ada", "ada-secret"), { result: {} });
  await slapd.kill();
  t.match(await tryAs("ada", "ada-secret"), UNREACHABLE_PROBLEMS);
  t.match(await tryAs("ben", "ben-secret"), UNREACHABLE_PROBLEMS);
  await admin();
  t.pass("users of our own still sign in");
  await slapd.start();
  t.match(await tryAs("ada", "ada-secret"), { result: {} }, "and is back");
  await slapd.freeze();
  t.match(await tryAs("ada", "ada-secret"), UNREACHABLE_PROBLEMS, "or hangs");
  slapd.thaw();
  t.match(await tryAs("ben", "ben-secret"), { result: {} });
});
