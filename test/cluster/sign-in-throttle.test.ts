import { findPostgres } from "@xo-server/store/conformance";
import t from "tap";
import { BalancedClient } from "./balanced-client.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

/** The proxy whose header contains the address of the client. */
const SETTINGS =
  "server: { name: NAME }\nhttp: { trustedProxies: [127.0.0.1] }";

/** Verified and wrong, verified and right, not verified. */
const WRONG = 401;
const RIGHT = 200;
const THROTTLED = 429;

/** @returns the status of the answer */
async function signIn(
  url: string,
  address: string,
  password: string,
  username = "admin",
): Promise<number> {
  const answer = await fetch(`${url}/rest/v0/auth/login`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": address,
    },
    body: JSON.stringify({ username, password }),
  });
  await answer.text();
  return answer.status;
}

t.test("sign-in attempts are limited over all servers", { skip }, async (t) => {
  const group = await ServerGroup.open(t, { bin: bin!, settings: SETTINGS });
  const one = await group.start(0);
  const users = group.run(0, "user", "add", "dora", "--stdin");
  users.child.stdin!.end(`${PASSWORD}\n`);
  t.equal(await users.ended, 0, users.output);
  const two = await group.start(1);
  const admin = await BalancedClient.signIn(one.url);
  let names = "";
  while (!names.includes("dora"))
    names = await (await admin.fetch("/rest/v0/users?fields=name")).text();
  /** Of names and addresses that have failed, as often as delays a minute; it has passed. */
  const addFailures = () =>
    group.postgres.query(
      "xo",
      "update sign_in_attempts set failures = 30, failed_at = failed_at - 61000 where failures > 0",
    );
  /** Alternates between the servers, at the same time, each attempt from another address. */
  const signInOften = (password: string, name: string, network: string) =>
    Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        signIn([one, two][i % 2]!.url, `${network}.${i}`, password, name),
      ),
    );

  await t.test("a failure delays the name at the other server", async (t) => {
    // Its user is known at this address from now on, because the token is known to all servers.
    t.equal(await signIn(one.url, "192.0.2.1", PASSWORD), RIGHT);
    t.equal(await signIn(one.url, "192.0.2.66", "wrong"), WRONG);
    await addFailures();
    t.equal(await signIn(one.url, "192.0.2.67", "wrong"), WRONG);
    t.equal(await signIn(two.url, "192.0.2.68", "wrong"), THROTTLED);
    t.equal(await signIn(two.url, "192.0.2.68", PASSWORD), THROTTLED);
  });

  await t.test("others are not shut out", async (t) => {
    t.equal(await signIn(two.url, "192.0.2.69", "wrong", "bob"), WRONG);
    t.equal(await signIn(one.url, "192.0.2.1", PASSWORD), RIGHT);
    // The other server reads the use of the token within a second.
    let known = THROTTLED;
    while (known === THROTTLED)
      known = await signIn(two.url, "192.0.2.1", PASSWORD);
    t.equal(known, RIGHT, "from where the user has signed in before");
  });

  await t.test("guesses at both servers at once take turns", async (t) => {
    t.equal(await signIn(one.url, "198.51.100.50", "wrong", "carol"), WRONG);
    await addFailures();
    const statuses = await signInOften("guess", "carol", "198.51.100");
    t.equal(
      statuses.filter((status) => status === WRONG).length,
      1,
      "as many as one server verifies",
    );
    t.equal(statuses.filter((status) => status === THROTTLED).length, 11);
  });

  await t.test("a right password is right at both at once", async (t) => {
    const statuses = await signInOften(PASSWORD, "dora", "203.0.113");
    t.ok(statuses.every((status) => status === RIGHT));
  });

  await t.test("without the database each server still limits", async (t) => {
    await group.postgres.kill();
    const statuses = await signInOften("guess", "erin", "198.51.101");
    t.equal(
      statuses.filter((status) => status === WRONG).length,
      2,
      "one at each",
    );
    await group.postgres.start();
  });
});
