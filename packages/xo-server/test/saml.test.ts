import t, { type Test } from "tap";
import { Browser } from "./browser.js";
import {
  SamlIdentityProvider,
  type SamlAnswer,
  type SamlForm,
} from "./saml-identity-provider.js";
import { startTestServer } from "./test-server.js";

const CALLBACK = "/signin/saml/callback";
const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

// A key of RSA takes long to generate.
const provider = SamlIdentityProvider.create();

/** A server that trusts the identity provider, and browsers. */
async function setUp(t: Test, saml: object = {}) {
  const server = await startTestServer(
    t,
    JSON.stringify({
      saml: {
        signOnUrl: provider.signOnUrl,
        providerEntityId: provider.entityId,
        certificate: provider.certificate,
        ...saml,
      },
    }),
  );
  const home = `http://${server.host}`;
  const begin = async (browser: Browser) => {
    const answer = await browser.get(`${home}/signin/saml`);
    return answer.headers.get("location")!;
  };
  /** Posts the form as another site does, then as the page does that the server returns. */
  const post = async (browser: Browser, form: SamlForm) => {
    const page = await browser.post(home + CALLBACK, form, "another");
    const fields = fieldsOf(await page.text());
    return browser.post(home + CALLBACK, fields);
  };
  const signIn = async (answer: SamlAnswer = {}) => {
    const browser = new Browser();
    const form = provider.respond(await begin(browser), answer);
    return { browser, form, answer: await post(browser, form) };
  };
  const me = async (browser: Browser) =>
    (await browser.get(`${home}/rest/v0/users/me`)).json();
  const admin = async () => (await server.connect()).signIn();
  return { ...server, home, begin, post, signIn, me, admin };
}

/** The hidden fields of a page. */
function fieldsOf(page: string): Record<string, string> {
  const pattern = /name="([^"]*)" value="([^"]*)"/g;
  return Object.fromEntries(
    [...page.matchAll(pattern)].map(([, name, value]) => [name!, value!]),
  );
}

t.test("sign-in at an identity provider of SAML", async (t) => {
  const { begin, signIn, me, home } = await setUp(t);
  const location = await begin(new Browser());
  t.match(location, `${provider.signOnUrl}&`, "its own query is kept");
  const { xml } = provider.readRequest(location);
  t.match(xml, `AssertionConsumerServiceURL="${home + CALLBACK}"`);
  t.match(xml, ">xo-server</saml:Issuer>");
  const { browser, answer } = await signIn();
  t.equal(answer.status, 303);
  t.equal(answer.headers.get("location"), "/");
  const [cleared, cookie] = answer.headers.getSetCookie();
  t.match(cleared, /^xo-signin=; Path=\/signin\/saml; Max-Age=0; HttpOnly/);
  t.match(
    cookie,
    /^authenticationToken=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  t.match(await me(browser), {
    name: "ada",
    permission: "none",
    authProviders: { saml: { id: `${provider.entityId}#ada` } },
  });
  const { id } = (await me(browser)) as { id: string };
  const again = await signIn({ signs: "response" });
  t.match(await me(again.browser), { id }, "the same user");
});

t.test("it is offered, and its metadata can be read", async (t) => {
  const { home } = await setUp(t, { label: "Example <SSO>" });
  const offered = await fetch(`${home}/rest/v0/signin/providers`);
  t.match(await offered.json(), {
    providers: [
      { id: "password" },
      { id: "saml", name: "Example <SSO>", url: "/signin/saml" },
    ],
  });
  const metadata = await fetch(`${home}/signin/saml/metadata`);
  t.match(metadata.headers.get("content-type"), "samlmetadata+xml");
  const xml = await metadata.text();
  t.match(xml, 'entityID="xo-server"');
  t.match(xml, `Location="${home + CALLBACK}"`);
  t.notMatch(xml, provider.entityId);
  const other = await fetch(`${home}/signin/oidc`);
  t.equal(other.status, 404);
});

t.test("a response that another site posts is sent again", async (t) => {
  const { home, begin, post } = await setUp(t);
  const browser = new Browser();
  const form = provider.respond(await begin(browser));
  const page = await browser.post(home + CALLBACK, form, "another");
  t.equal(page.status, 200);
  t.match(
    page.headers.get("content-security-policy"),
    /^default-src 'none'; script-src 'sha256-[\w+/]+='; form-action 'self'/,
  );
  t.same(page.headers.getSetCookie(), [], "nothing is used up");
  t.match(fieldsOf(await page.text()), form);
  t.equal((await post(browser, form)).status, 303);
  const hostile = { SAMLResponse: '"><script>', RelayState: "'&<" };
  const text = await (await browser.post(home + CALLBACK, hostile)).text();
  t.match(text, "&quot;&gt;&lt;script&gt;");
  t.equal(text.split("<script>").length, 2, "its own script only");
});

t.test("a response is valid once, in its browser", async (t) => {
  const { begin, post, signIn } = await setUp(t);
  const refused = async (name: string, browser: Browser, form: SamlForm) => {
    const answer = await post(browser, form);
    t.equal(answer.status, 403, name);
    t.notMatch(answer.headers.getSetCookie().join(), /authenticationToken/);
  };
  const victim = new Browser();
  const form = provider.respond(await begin(victim));
  await refused("a browser without a sign-in", new Browser(), form);
  const other = new Browser();
  const { RelayState } = provider.respond(await begin(other));
  await refused("another sign-in", other, form);
  await begin(other);
  await refused("the state of another", other, { ...form, RelayState });
  const done = await signIn();
  await refused("again", done.browser, done.form);
});

t.test("forged and foreign responses are rejected", async (t) => {
  const { signIn, begin, post, me, lines } = await setUp(t);
  const impostor = SamlIdentityProvider.create();
  const evil = (xml: string) => xml.replace(">ada<", ">root<");
  /** The signed assertion is moved, and an unsigned one takes its place. */
  const wrapped = (xml: string) => {
    const [signed] = /<saml:Assertion.*<\/saml:Assertion>/.exec(xml)!;
    const bare = signed
      .replace(/<ds:Signature.*<\/ds:Signature>/, "")
      .replace(/ID="_/, 'ID="_f');
    const kept = `<samlp:Extensions>${signed}</samlp:Extensions>`;
    return xml.replace(signed, kept + evil(bare));
  };
  const double = (xml: string) => {
    const [signed] = /<saml:Assertion.*<\/saml:Assertion>/.exec(xml)!;
    const bare = signed.replace(/<ds:Signature.*<\/ds:Signature>/, "");
    return xml.replace(signed, evil(bare) + signed);
  };
  const crowded = (tags: number) => (xml: string) =>
    xml.replace("<samlp:Status>", `${"<a/>".repeat(tags)}$&`);
  const entities = (xml: string) =>
    `<!DOCTYPE x [<!ENTITY a "root">]>${xml.replace(">ada<", ">&a;<")}`;
  const cases: [name: string, answer: SamlAnswer, reason: RegExp][] = [
    ["not signed", { signs: "nothing" }, /not valid/],
    ["changed", { forge: evil }, /not valid/],
    ["changed, all signed", { signs: "response", forge: evil }, /not valid/],
    ["wrapped signature", { forge: wrapped }, /not valid/],
    ["two assertions", { forge: double }, /not valid/],
    ["entities", { forge: entities }, /not valid/],
    ["no XML", { forge: () => "none" }, /not valid/],
    ["expired", { validMs: -120_000 }, /not valid/],
    ["another audience", { audience: "https://other" }, /not valid/],
    ["another request", { inResponseTo: "_other" }, /not valid/],
    ["another issuer", { issuer: "https://b" }, /of another identity provider/],
    ["another recipient", { recipient: "http://b" }, /for another address/],
    ["many tags", { forge: crowded(4_001) }, /more than 4000 XML tags/],
    ["denied", { status: "AuthnFailed" }, /returned AuthnFailed error/],
    ["transient", { nameIdFormat: TRANSIENT }, /configure saml\.idAttribute/],
    ["no name", { nameId: "" }, /sent no NameID/],
  ];
  for (const [name, answer, reason] of cases) {
    const refused = await signIn(answer);
    t.equal(refused.answer.status, 403, name);
    t.match(await refused.answer.text(), reason, name);
    t.notMatch(
      refused.answer.headers.getSetCookie().join(),
      /authenticationToken/,
    );
  }
  t.match(lines.join(""), /SAML sign-in failed/);
  const browser = new Browser();
  const { status } = await post(
    browser,
    impostor.respond(await begin(browser)),
  );
  t.equal(status, 403, "signed with another key");
  // A signature does not cover comments.
  const commented = (xml: string) =>
    xml.replace("ada.evil", "ada<!-- -->.evil");
  const signedIn = await signIn({ nameId: "ada.evil", forge: commented });
  t.match(await me(signedIn.browser), { name: "ada.evil" });
});

t.test("name, groups and administrators follow attributes", async (t) => {
  const { signIn, me, admin } = await setUp(t, {
    idAttribute: "employee",
    nameAttribute: "uid",
    groupsAttribute: "memberOf",
    adminGroup: "bosses",
  });
  const ada = { employee: ["7"], uid: ["ada"] };
  const first = await signIn({
    nameIdFormat: TRANSIENT,
    nameId: "random",
    attributes: { ...ada, memberOf: ["bosses", "operators"] },
  });
  t.match(await me(first.browser), { name: "ada", permission: "admin" });
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
  await signIn({ attributes: { ...ada, memberOf: ["operators"] } });
  t.same(await names(), ["operators"], "one value is a group");
  t.match(await me(first.browser), { permission: "none" });
  await signIn({ attributes: { ...ada, uid: ["ada.l"] } });
  t.match(await me(first.browser), { name: "ada.l" });
  t.same(await names(), [], "an attribute that is not there names no group");
  const nameless = await signIn({ attributes: { employee: ["8"] } });
  t.equal(nameless.answer.status, 403);
  t.match(await nameless.answer.text(), "sent no attribute &quot;uid&quot;");
});

t.test("other bodies and methods are rejected", async (t) => {
  const { home } = await setUp(t);
  const post = (headers: Record<string, string>, body: string) =>
    fetch(home + CALLBACK, { method: "POST", headers, body });
  const json = { "content-type": "application/json" };
  t.equal((await post(json, '{"SAMLResponse":[1]}')).status, 415);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const large = `SAMLResponse=${"A".repeat(128 << 10)}`;
  t.equal((await post(form, large)).status, 413);
  t.equal((await fetch(home + CALLBACK)).status, 404);
  t.equal((await post(form, "again=true")).status, 403);
});
