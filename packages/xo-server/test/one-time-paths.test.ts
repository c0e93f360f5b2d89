import fastify from "fastify";
import t from "tap";
import { OneTimePaths } from "../src/transfers/one-time-paths.js";
import { addOneTimePaths } from "../src/api/transfers/one-time-routes.js";
import { FakeClock } from "./fake-clock.js";

async function* lines() {
  yield Buffer.from("1\n");
  yield Buffer.from("2\n");
}

const download = () => ({ type: "application/json", body: lines() });

t.test("what is offered can be fetched once, by its path alone", async (t) => {
  const paths = new OneTimePaths({ clock: new FakeClock() });
  const app = fastify();
  t.teardown(() => app.close());
  addOneTimePaths(app, paths);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const { $getFrom } = paths.offer(download());
  t.match($getFrom, /^\/api\/[\w-]{43}$/);
  const first = await fetch(url + $getFrom);
  t.equal(first.status, 200);
  t.equal(await first.text(), "1\n2\n");
  t.equal(first.headers.get("content-type"), "application/json");
  t.not((await fetch(url + $getFrom)).status, 200);
  const named = `${paths.offer(download()).$getFrom}/a%20file.json`;
  t.equal(await (await fetch(url + named)).text(), "1\n2\n");
});

t.test("an offer does not stand for ever", async (t) => {
  const clock = new FakeClock();
  const paths = new OneTimePaths({ clock, lifeMs: 1_000 });
  const token = paths.offer(download()).$getFrom.slice("/api/".length);
  clock.pass(1_000);
  t.equal(paths.take(token, "download"), undefined);
  paths.offer(download());
  paths.stop();
  t.equal(clock.waiting, 0);
});

t.test("offers are bounded", async (t) => {
  const paths = new OneTimePaths({ clock: new FakeClock(), maxOffers: 2 });
  const { $getFrom } = paths.offer(download());
  paths.offer(download());
  t.throws(() => paths.offer(download()), { code: "TOO_MANY_REQUESTS" });
  paths.take($getFrom.slice("/api/".length), "download");
  t.ok(paths.offer(download()));
});
