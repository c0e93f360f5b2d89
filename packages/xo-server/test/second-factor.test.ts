import t, { type Test } from "tap";
import { totpCode } from "../src/auth/second-factor/totp.js";
import { Browser } from "./browser.js";
import { FakeClock } from "./fake-clock.js";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "./oidc-server.js";
import { SERVICE_PASSWORD, skipLdap, Slapd } from "./slapd.js";
import {
  ADMIN_PASSWORD,
  startTestServer,
  type TestClient,
} from "./test-server.js";

const REFUSED = { error: { data: { code: "SECOND_FACTOR_REQUIRED" } } };
const STEP_MS = 30_000;
const password = "bob's password";

/** Methods that a user may call who must set up a second factor first. */
const SET_UP_METHODS = [
  "session.createToken",
  "session.keepAlive",
  "session.signOut",
  "token.deleteOwn",
  "user.confirmTotp",
  "user.enrolTotp",
];

/** A server that requires a second factor of these users. */
async function setUp(
  t: Test,
  required: "administrators" | "all",
  config: object = {},
) {
  const clock = new FakeClock();
  const yaml = JSON.stringify({
    auth: { requireSecondFactor: required },
    ...config,
  });
  const server = await startTestServer(t, yaml, { clock });
  const { connect, get } = server;
  const logIn = async (body: object) => {
    const answer = await get("/rest/v0/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    const { data } = (await answer.json()) as { data?: object };
    return { status: answer.status, cookie, data };
  };
  /** Status and body of a list of users, a path that all signed-in users may read. */
  const read = async (headers: Record<string, string>, path = "/users/me") => {
    const answer = await get(`/rest/v0${path}`, { headers });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  /** On the page, with the cookie of a login. */
  const openPage = async (cookie: string) => {
    const answer = await get("/rest/v0/session/ticket", {
      method: "POST",
      headers: { cookie },
    });
    const { ticket } = (await answer.json()) as { ticket: string };
    const page = await connect();
    await page.request("session.signInWithTicket", { ticket });
    return page;
  };
  const signIn = async (username: string, password: string) =>
    (await connect()).signIn(username, password);
  return { ...server, clock, logIn, read, openPage, signIn };
}

/** Sets up a second factor. @returns its codes */
async function enrol(
  client: TestClient,
  clock: FakeClock,
  password: string,
): Promise<() => string> {
  const { secret } = (await client.request("user.enrolTotp", { password })) as {
    secret: string;
  };
  const code = () => totpCode(secret, clock.now());
  await client.request("user.confirmTotp", { otp: code() });
  clock.pass(STEP_MS);
  return code;
}

const basic = (name: string, password: string) => ({
  authorization: `Basic ${btoa(`${name}:${password}`)}`,
});

t.test(
  "a user without the required second factor may only set it up",
  async (t) => {
    const { signIn, connect, clock } = await setUp(t, "all");
    const admin = await signIn("admin", ADMIN_PASSWORD);
    t.match(await admin.request("session.getUser"), {
      needsSecondFactor: true,
    });
    const anonymous = await connect();
    const names = (await admin.request("system.listMethods")) as string[];
    t.ok(names.length > 300);
    const codeOf = async (client: TestClient, name: string) => {
      // The number of messages of a client per second is limited.
      clock.pass(100);
      const { error } = await client.call(name, {});
      return ((error?.data ?? {}) as { code?: string }).code;
    };
    const open = ["session.signOut"];
    for (const name of names) {
      if (open.includes(name)) continue;
      // What anonymous clients may call is open to all.
      if ((await codeOf(anonymous, name)) !== "UNAUTHORIZED") continue;
      if ((await codeOf(admin, name)) !== "SECOND_FACTOR_REQUIRED")
        open.push(name);
    }
    t.same(open.toSorted(), SET_UP_METHODS);
    t.match(await admin.call("user.getAll"), {
      error: { message: /user\.enrolTotp and user\.confirmTotp/ },
    });
  },
);

t.test("over REST everything but the page's set-up is refused", async (t) => {
  const { read, logIn, get } = await setUp(t, "all");
  const { cookie } = await logIn({
    username: "admin",
    password: ADMIN_PASSWORD,
  });
  const swagger = await read({}, "/docs/swagger.json");
  const { paths } = swagger.body as { paths: Record<string, object> };
  const ways = [{ cookie }, basic("admin", ADMIN_PASSWORD)];
  let refused = 0;
  for (const path of Object.keys(paths)) {
    if (!("get" in paths[path]!)) continue;
    const url = path.replace(/\{\w+\}/g, "x");
    const answer = await get(`/rest/v0${url}`, { headers: ways[0]! });
    await answer.body?.cancel();
    if (answer.status === 403) refused += 1;
    else t.match(url, /^\/(signin\/providers|ping|mcp\/status|gui-routes)$/);
  }
  t.ok(refused > 100);
  for (const way of ways)
    t.match(await read(way), {
      status: 403,
      body: { error: /^a second factor is required: this account has none/ },
    });
});

t.test(
  "the page signs in, sets it up in this session, and continues",
  async (t) => {
    const { clock, logIn, read, openPage, connect, signIn } = await setUp(
      t,
      "all",
    );
    const account = { username: "admin", password: ADMIN_PASSWORD };
    const other = await logIn(account);
    const otherPage = await openPage(other.cookie);
    const otherSocket = await signIn("admin", ADMIN_PASSWORD);
    const mine = await logIn(account);
    const page = await openPage(mine.cookie);
    t.match(await page.call("token.create", {}), REFUSED);

    const code = await enrol(page, clock, ADMIN_PASSWORD);
    t.match(await page.request("user.getAll"), [{ needsSecondFactor: false }]);
    t.match(await read({ cookie: mine.cookie }), { status: 200 });

    await otherPage.closed;
    await otherSocket.closed;
    t.match(await read({ cookie: other.cookie }), {
      status: 403,
      body: { error: /token was created without/ },
    });
    t.match(await logIn(account), {
      status: 401,
      data: { otpRequired: true },
    });
    const again = await logIn({ ...account, otp: code() });
    t.match(await read({ cookie: again.cookie }), { status: 200 });
    clock.pass(STEP_MS);
    const way = basic("admin", ADMIN_PASSWORD);
    t.match(await read(way), { status: 401 });
    t.match(await read(way, `/users/me?otp=${code()}`), { status: 200 });

    const token = String(await page.request("token.create", {}));
    t.match(await read({ authorization: `Bearer ${token}` }), { status: 200 });
    const script = await connect();
    t.match(await script.call("session.signIn", { token }), { result: {} });
    t.match(await script.call("user.getAll"), { result: [{}] });
  },
);

t.test(
  "tokens of before are refused when a second factor becomes required",
  async (t) => {
    const { clock, read, signIn, connect } = await setUp(t, "administrators");
    const admin = await signIn("admin", ADMIN_PASSWORD);
    await enrol(admin, clock, ADMIN_PASSWORD);
    const id = String(
      await admin.request("user.create", { email: "bob", password }),
    );
    const bob = await signIn("bob", password);
    t.match(await bob.request("session.getUser"), { needsSecondFactor: false });
    const client = { id: "script" };
    const old = String(await bob.request("token.create", { client }));
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    t.match(await read(bearer(old)), { status: 200 });

    await admin.request("user.set", { id, permission: "admin" });
    await bob.closed;
    t.match(await read(bearer(old)), { status: 403 });
    t.match(await admin.request("user.getAll"), [
      { name: "admin", needsSecondFactor: false },
      { name: "bob", needsSecondFactor: true },
    ]);
    const input = (await admin.request("user.createAuthenticationToken", {
      id,
    })) as { token: { id: string } };
    t.match(
      await read(bearer(input.token.id)),
      { status: 200 },
      "a token that an administrator has created for the user",
    );

    const again = await signIn("bob", password);
    await enrol(again, clock, password);
    t.match(await read(bearer(old)), { status: 403 }, "still the old one");
    const socket = await connect();
    t.match(await socket.call("session.signIn", { token: old }), REFUSED);
    const renewed = String(await again.request("token.create", { client }));
    t.not(renewed, old, "the text of a weaker token is not used again");
    t.match(await read(bearer(renewed)), { status: 200 });
    t.match(await read(bearer(old)), { status: 401 });
  },
);

t.test(
  "a second factor that is required can be replaced, and removed by an administrator only",
  async (t) => {
    const { clock, signIn } = await setUp(t, "all");
    const admin = await signIn("admin", ADMIN_PASSWORD);
    await enrol(admin, clock, ADMIN_PASSWORD);
    const id = String(
      await admin.request("user.create", { email: "bob", password }),
    );
    const bob = await signIn("bob", password);
    await enrol(bob, clock, password);
    t.match(await bob.call("user.removeTotp", { password }), REFUSED);
    await enrol(bob, clock, password);
    t.match(await bob.call("session.getUser"), { result: { hasTotp: true } });

    await admin.request("user.removeTotp", { id });
    await bob.closed;
    const again = await signIn("bob", password);
    t.match(await again.call("user.getAuthenticationTokens"), REFUSED);
  },
);

t.test(
  "the second factor of OpenID Connect is the matter of the provider",
  async (t) => {
    const provider = await OidcServer.start(t);
    const oidc = {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
    };
    const { host, openPage, signIn, clock } = await setUp(t, "all", {
      oidc,
    });
    const home = `http://${host}`;
    provider.register(`${home}/signin/oidc/callback`);
    const browser = new Browser();
    await browser.follow(`${home}/signin/oidc`);
    const me = await browser.get(`${home}/rest/v0/users/me`);
    t.equal(me.status, 200);
    const token = browser.cookie("127.0.0.1", "authenticationToken") ?? "";
    const page = await openPage(`authenticationToken=${token}`);
    t.match(await page.request("session.getUser"), {
      needsSecondFactor: false,
    });
    t.type(await page.request("token.create", {}), "string");

    const admin = await signIn("admin", ADMIN_PASSWORD);
    await enrol(admin, clock, ADMIN_PASSWORD);
    const users = (await admin.request("user.getAll")) as {
      name: string;
      needsSecondFactor: boolean;
    }[];
    t.equal(users.length, 2);
    t.ok(users.every(({ needsSecondFactor }) => !needsSecondFactor));
  },
);

t.test("users of a directory need one here", { skip: skipLdap }, async (t) => {
  const slapd = await Slapd.start();
  t.teardown(() => slapd.remove());
  const { signIn, clock } = await setUp(t, "all", {
    ldap: {
      urls: [slapd.url],
      startTls: false,
      bindDn: "cn=service,dc=example",
      bindPassword: SERVICE_PASSWORD,
      base: "ou=people,dc=example",
    },
  });
  const ada = await signIn("ada", "ada-secret");
  t.match(await ada.request("session.getUser"), { needsSecondFactor: true });
  t.match(await ada.call("user.getAuthenticationTokens"), REFUSED);
  await enrol(ada, clock, "ada-secret");
  t.match(await ada.call("user.getAuthenticationTokens"), { result: [] });
});
