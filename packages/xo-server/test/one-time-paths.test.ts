import fastify from "fastify";
import t from "tap";
import type { PathOwner } from "../src/transfers/one-time-path.js";
import { OneTimePaths } from "../src/transfers/one-time-paths.js";
import { addOneTimePaths } from "../src/api/transfers/one-time-routes.js";
import { FakeClient } from "./fake-client.js";
import { FakeClock } from "./fake-clock.js";

async function* lines() {
  yield Buffer.from("1\n");
  yield Buffer.from("2\n");
}

const download = () => ({ type: "application/json", body: lines() });

function ownerOf(name: string | undefined, address = "192.0.2.1") {
  const user = name === undefined ? undefined : { id: name };
  return { user, address, client: new FakeClient() } as unknown as PathOwner;
}

const alice = ownerOf("alice");

t.test("an offered file can be fetched once, by its path", async (t) => {
  const paths = new OneTimePaths({ clock: new FakeClock() });
  const app = fastify();
  t.teardown(() => app.close());
  addOneTimePaths(app, paths);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const { $getFrom } = await paths.offer(download(), alice);
  t.match($getFrom, /^\/api\/[\w-]{43}$/);
  const first = await fetch(url + $getFrom);
  t.equal(first.status, 200);
  t.equal(await first.text(), "1\n2\n");
  t.equal(first.headers.get("content-type"), "application/json");
  t.not((await fetch(url + $getFrom)).status, 200);
  const named = `${(await paths.offer(download(), alice)).$getFrom}/a%20file.json`;
  t.equal(await (await fetch(url + named)).text(), "1\n2\n");
});

t.test("an offered path expires", async (t) => {
  const clock = new FakeClock();
  const paths = new OneTimePaths({ clock, lifeMs: 1_000 });
  const token = (await paths.offer(download(), alice)).$getFrom.slice(
    "/api/".length,
  );
  clock.pass(1_000);
  t.equal(await paths.take(token, "download"), undefined);
  await paths.offer(download(), alice);
  paths.stop();
  t.equal(clock.waiting, 0);
});

t.test("offers are bounded", async (t) => {
  const paths = new OneTimePaths({ clock: new FakeClock(), maxOffers: 2 });
  const { $getFrom } = await paths.offer(download(), alice);
  await paths.offer(download(), alice);
  await t.rejects(paths.offer(download(), alice), {
    code: "TOO_MANY_REQUESTS",
  });
  await paths.take($getFrom.slice("/api/".length), "download");
  t.ok(await paths.offer(download(), alice));
});

t.test("each user and each address has a share of the offers", async (t) => {
  const clock = new FakeClock();
  const paths = new OneTimePaths({
    clock,
    maxOffersPerCaller: 2,
    maxOffers: 6,
  });
  const offer = (owner: PathOwner) => paths.offer(download(), owner);
  const fails = { code: "TOO_MANY_REQUESTS" };
  const bob = ownerOf("bob");
  const guest = ownerOf(undefined);
  const other = ownerOf(undefined, "192.0.2.2");
  for (const owner of [alice, bob, guest]) {
    await offer(owner);
    await offer(owner);
    await t.rejects(offer(owner), fails);
  }
  await t.rejects(offer(other), fails, "all together are bounded, too");
  clock.pass(60_000);
  t.ok(await offer(alice));
  t.ok(await offer(other));
});

t.test("a path that is used immediately needs no share", async (t) => {
  const clock = new FakeClock();
  const paths = new OneTimePaths({ clock, maxOffers: 1 });
  await paths.offer(download(), alice);
  const rest = { ...ownerOf("bob"), takesPathAtOnce: true };
  t.ok(await paths.offer(download(), rest));
  await t.rejects(paths.offer(download(), ownerOf("bob")));
});

t.test("a path is valid no longer than its owner's session", async (t) => {
  const paths = new OneTimePaths({ clock: new FakeClock() });
  let isOver = false;
  const owner = ownerOf("alice");
  owner.client.setSession({
    userId: "alice",
    user: () => (isOver ? undefined : ({ id: "alice" } as never)),
  });
  const offer = async (of: PathOwner) =>
    (await paths.offer(download(), of)).$getFrom.slice("/api/".length);
  const take = (token: string) => paths.take(token, "download");
  t.ok(await take(await offer(owner)));
  const token = await offer(owner);
  isOver = true;
  t.equal(await take(token), undefined, "its token was revoked");
  isOver = false;

  const [first, second, bobs] = await Promise.all(
    [owner, alice, ownerOf("bob")].map(offer),
  );
  await paths.revoke("alice", owner.client);
  t.ok(await take(first!), "the connection that changed the password");
  t.equal(await take(second!), undefined);
  t.ok(await take(bobs!));
});
