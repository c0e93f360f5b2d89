import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import t from "tap";
import { Browser } from "./browser.js";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "./oidc-server.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

t.test("sign-ins are audited: user, address, method and outcome", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const location = join(folder, "store.db");
  const keyFile = join(folder, "store.key");
  const provider = await OidcServer.start(t);
  const oidc = {
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
  };
  const { connect, get, host, lines, stop } = await startTestServer(
    t,
    JSON.stringify({ oidc, store: { location, keyFile } }),
  );
  provider.register(`http://${host}/signin/oidc/callback`);
  const client = await connect();
  const signIn = (username: string, password: string) =>
    client.call("session.signIn", { username, password });
  await signIn("admin", ADMIN_PASSWORD);
  await signIn("my-password-in-the-wrong-field", "x-secret");
  await signIn("admin", "wrong-secret");
  await signIn("admin", ADMIN_PASSWORD); // Too early: it is ignored.
  const token = (await client.request("token.create", {})) as string;
  const cookie = { headers: { cookie: `authenticationToken=${token}` } };
  await get("/rest/v0/users/me", cookie);
  const browser = new Browser();
  const { url } = await browser.follow(`http://${host}/signin/oidc`, (one) =>
    one.includes("/callback"),
  );
  const done = await browser.get(url);
  provider.denial = "access_denied";
  provider.account = "ben";
  await new Browser().follow(`http://${host}/signin/oidc`);
  await stop();

  const store = await openStore({ location, key: { file: keyFile } });
  t.teardown(() => store.close());
  const all = await store.audit.list();
  const failure = { outcome: "failure", errorCode: "CREDENTIALS_INVALID" };
  t.match(
    all.filter(({ operation }) => operation === "session.signIn").toReversed(),
    [
      {
        userName: "admin",
        outcome: "success",
        address: "127.0.0.1",
        parameters: { provider: "password" },
      },
      { ...failure, userName: undefined, address: "127.0.0.1" },
      { ...failure, userName: "admin" },
      {
        userName: "ada",
        outcome: "success",
        parameters: { provider: "oidc" },
      },
      { ...failure, parameters: { provider: "oidc" } },
    ],
  );
  t.ok((await store.audit.verify()).intact);
  const said = lines.join("") + JSON.stringify(all);
  const code = new URL(url).searchParams.get("code")!;
  const [, input] = done.headers.getSetCookie();
  const cookieToken = /=([\w-]+)/.exec(input!)![1]!;
  for (const secret of [
    ADMIN_PASSWORD,
    "wrong-secret",
    "x-secret",
    CLIENT_SECRET,
    "my-password-in-the-wrong-field",
    token,
    cookieToken,
    code,
  ])
    t.notOk(said.includes(secret), "no secret in logs");
});
