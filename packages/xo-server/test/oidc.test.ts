import t, { type Test } from "tap";
import { Browser } from "./browser.js";
import { FakeClock } from "./fake-clock.js";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "./oidc-server.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const CALLBACK = "/signin/oidc/callback";
const isCallback = (url: string) => url.includes(CALLBACK);

interface SetUp {
  /** Besides what all tests need. */
  readonly oidc?: object;
  readonly clock?: FakeClock;
}

/** A provider, a server that asks it, and browsers. */
async function setUp(t: Test, { oidc, clock }: SetUp = {}) {
  const provider = await OidcServer.start(t);
  const all = {
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    ...oidc,
  };
  const server = await startTestServer(
    t,
    JSON.stringify({ oidc: all }),
    clock === undefined ? {} : { clock },
  );
  const home = `http://${server.host}`;
  provider.register(home + CALLBACK);
  const enter = `${home}/signin/oidc`;
  /** From the server to the provider and back, but for the last step. */
  const goAndReturn = async (browser: Browser) =>
    (await browser.follow(enter, isCallback)).url;
  const signIn = async () => {
    const browser = new Browser();
    const callback = await goAndReturn(browser);
    const answer = await browser.get(callback);
    return { browser, answer, callback };
  };
  const me = async (browser: Browser) =>
    (await browser.get(`${home}/rest/v0/users/me`)).json();
  const admin = async () => (await server.connect()).signIn();
  return {
    ...server,
    provider,
    home,
    enter,
    goAndReturn,
    signIn,
    me,
    admin,
  };
}

t.test(
  "sign-in at a provider redirects the browser and signs in",
  async (t) => {
    const { signIn, me, home, provider, enter } = await setUp(t);
    const browser = new Browser();
    const first = await browser.get(enter);
    const { searchParams, origin } = new URL(first.headers.get("location")!);
    t.equal(origin, provider.issuer);
    t.match(Object.fromEntries(searchParams), {
      client_id: CLIENT_ID,
      redirect_uri: home + CALLBACK,
      response_type: "code",
      scope: "openid profile email",
      code_challenge: /^[\w-]{43}$/,
      code_challenge_method: "S256",
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    });
    t.match(
      browser.setCookies[0],
      /^xo-signin=[\w.-]+; Path=\/signin\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const signedIn = await signIn();
    t.equal(signedIn.answer.status, 302);
    t.equal(signedIn.answer.headers.get("location"), "/");
    const [cleared, cookie] = signedIn.answer.headers.getSetCookie();
    t.match(cleared, /^xo-signin=; Path=\/signin\/oidc; Max-Age=0; HttpOnly/);
    t.match(
      cookie,
      /^authenticationToken=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    t.match(await me(signedIn.browser), {
      name: "ada",
      permission: "none",
      authProviders: { oidc: { id: `${provider.issuer}#ada` } },
    });
    const { browser: again } = await signIn();
    const { id } = (await me(again)) as { id: string };
    t.match(await me(signedIn.browser), { id }, "the same user");
  },
);

t.test(
  "a returned state is valid once, for its browser, in time",
  async (t) => {
    const clock = new FakeClock();
    const { goAndReturn, signIn, provider, enter } = await setUp(t, { clock });
    const refused = async (name: string, browser: Browser, url: string) => {
      const before = provider.tokenRequests;
      const answer = await browser.get(url);
      t.equal(answer.status, 403, name);
      t.notMatch(answer.headers.getSetCookie().join(), /authenticationToken/);
      t.equal(provider.tokenRequests, before, `${name}: the code is not used`);
    };
    const victim = new Browser();
    const callback = await goAndReturn(victim);
    await refused("another browser", new Browser(), callback);
    const other = new Browser();
    await goAndReturn(other);
    await refused("a browser that began another sign-in", other, callback);
    const forged = callback.replace(/state=[^&]+/, "state=guessed");
    await refused("another state", victim, forged);
    await refused("the right state, after a wrong one", victim, callback);

    const attacker = new Browser();
    const done = await signIn();
    await refused(
      "the address of a sign-in, again",
      done.browser,
      done.callback,
    );
    await attacker.get(enter);
    await refused("the address of another's sign-in", attacker, done.callback);

    const late = new Browser();
    const lateCallback = await goAndReturn(late);
    clock.pass(10 * 60_000);
    await refused("too late", late, lateCallback);
  },
);

t.test("a stolen cookie of a sign-in is used up with it", async (t) => {
  const { goAndReturn, host, home, provider } = await setUp(t);
  const browser = new Browser();
  const callback = await goAndReturn(browser);
  const [name] = host.split(":");
  const cookie = `xo-signin=${browser.cookie(name!, "xo-signin")}`;
  t.equal((await browser.get(callback)).status, 302);
  const before = provider.tokenRequests;
  const answer = await fetch(callback, {
    headers: { cookie },
    redirect: "manual",
  });
  t.equal(answer.status, 403);
  t.equal(provider.tokenRequests, before);
  for (const junk of ["", "x", "A".repeat(200)]) {
    const init = { headers: { cookie: `xo-signin=${junk}` } };
    t.equal((await fetch(home + CALLBACK, init)).status, 403);
  }
});

t.test("groups and administrators follow the provider", async (t) => {
  const oidc = { groupsClaim: "groups", adminGroup: "bosses" };
  const { signIn, me, provider, admin } = await setUp(t, { oidc });
  const { browser } = await signIn();
  t.match(await me(browser), { permission: "admin" });
  const root = await admin();
  const names = async () =>
    (
      (await root.request("group.getAll")) as {
        name: string;
        users: string[];
      }[]
    )
      .filter(({ users }) => users.length > 0)
      .map(({ name }) => name)
      .toSorted();
  t.same(await names(), ["bosses", "operators"]);
  provider.users.set("ada", {
    preferred_username: "ada",
    groups: "operators",
  });
  await signIn();
  t.same(await names(), ["operators"]);
  t.match(await me(browser), { permission: "none" });
  provider.users.set("ada", { preferred_username: "ada" });
  await signIn();
  t.same(await names(), [], "a claim that is not there names no group");
});

t.test(
  "a local user is not the user of the same name of a provider",
  async (t) => {
    const { signIn, provider, lines, admin } = await setUp(t);
    provider.users.set("eve", { preferred_username: "admin" });
    provider.account = "eve";
    const { answer } = await signIn();
    t.equal(answer.status, 403);
    t.match(
      await answer.text(),
      /user &quot;admin&quot; exists and is not linked/,
    );
    t.match(lines.join(""), /user .*admin.* exists and is not linked/);
    t.match(await (await admin()).request("session.getUser"), {
      email: "admin",
    });
    provider.users.set("ben", { preferred_username: "<b>&\"'" });
    provider.account = "ben";
    await signIn();
    provider.users.set("ben2", { preferred_username: "<b>&\"'" });
    provider.account = "ben2";
    const page = await (await signIn()).answer.text();
    t.match(
      page,
      "user &quot;&lt;b&gt;&amp;&quot;&#39;&quot; exists and is not linked",
      "no way into the page",
    );
  },
);

t.test("a renamed person stays the same user", async (t) => {
  const { signIn, me, provider } = await setUp(t);
  const { browser } = await signIn();
  const before = (await me(browser)) as { id: string };
  provider.users.set("ada", { preferred_username: "ada.l" });
  await signIn();
  t.match(await me(browser), { id: before.id, name: "ada.l" });
});

t.test(
  "a user with incomplete data from the provider is refused",
  async (t) => {
    const { signIn, provider } = await setUp(t, {
      oidc: { nameClaim: "email" },
    });
    provider.users.set("ada", {});
    const nameless = await signIn();
    t.equal(nameless.answer.status, 403);
    t.match(await nameless.answer.text(), "sent no claim &quot;email&quot;");
    provider.denial = "access_denied";
    provider.account = "ben";
    const denied = await signIn();
    t.equal(denied.answer.status, 403);
    t.match(
      await denied.answer.text(),
      "the provider returned the error access_denied",
    );
  },
);

t.test(
  "an unavailable provider is reported, delays no start, and is retried",
  async (t) => {
    const { enter, goAndReturn, provider, connect, lines } = await setUp(t);
    provider.isUp = false;
    const page = await new Browser().get(enter);
    t.equal(page.status, 503);
    t.match(page.headers.get("content-type"), "text/html");
    t.match(
      await page.text(),
      /identity provider OpenID Connect is unavailable/,
    );
    const json = await new Browser().get(enter, { accept: "*/*" });
    t.match(await json.json(), {
      error: /identity provider OpenID Connect is unavailable/,
    });
    t.equal(json.headers.get("location"), null);
    const client = await connect();
    await t.resolves(client.signIn("admin", ADMIN_PASSWORD));
    provider.isUp = true;
    const browser = new Browser();
    const callback = await goAndReturn(browser);
    provider.isUp = false;
    t.equal((await browser.get(callback)).status, 503, "deleted meanwhile");
    provider.isUp = true;
    const again = await goAndReturn(browser);
    t.equal((await browser.get(again)).status, 302);
    t.notMatch(lines.join(""), CLIENT_SECRET);
  },
);

t.test("without a provider there is no sign-in at one", async (t) => {
  const { get } = await startTestServer(t);
  for (const path of ["/signin/oidc", CALLBACK])
    t.equal((await get(path)).status, 404, path);
});
