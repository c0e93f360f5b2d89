import t from "tap";
import type { Xapi } from "../src/index.js";
import { FakeClock, msUntil, until } from "./fake-clock.js";
import { poolScript } from "./fake-xapi.js";
import { setUp, viaOf, timed, other } from "./indirect-pool.js";

t.test("a pool that is reached is connected directly", async (t) => {
  const { xapi, route } = await setUp(t);
  await xapi.connect();
  t.equal(viaOf(xapi), undefined);
  t.same(route.requested, []);
});

t.test(
  "if packets are dropped, a call that waits is sent through the other way, within seconds",
  async (t) => {
    const { xapi, network, clock, route, logger, pool } = await setUp(t);
    await xapi.connect();
    await xapi.call("VM.get_all");
    network.drop();
    const { ms, outcome } = await timed(clock, xapi.call("VM.get_all"));
    t.match(outcome, [{ status: "fulfilled", value: [] }]);
    t.ok(ms < 10_000, `${ms} ms of the clock; without it 20 s`);
    t.equal(viaOf(xapi), "xo2");
    t.equal(route.requested[0], `https://127.0.0.1:${network.port}`);
    t.ok(logger.lines.some(({ message }) => /but through xo2$/.test(message)));
    t.equal(
      pool.calls.filter(({ method }) => /login/.test(method)).length,
      1,
      "in the same session",
    );
    const next = await timed(clock, xapi.call("VM.get_all"));
    t.ok(next.ms < 1_000, "the next call does not wait for the direct way");
  },
);

t.test("it is reached directly again when that is possible", async (t) => {
  const { xapi, network, clock, route, logger } = await setUp(t);
  await xapi.connect();
  network.drop();
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => viaOf(xapi) === "xo2");
  network.isDropping = false;
  await msUntil(clock, () => viaOf(xapi) === undefined);
  const before = route.requested.length;
  t.match((await timed(clock, xapi.call("VM.get_all"))).outcome, [
    { status: "fulfilled" },
  ]);
  t.equal(route.requested.length, before);
  t.ok(logger.lines.some(({ message }) => /directly again$/.test(message)));
  await until(() => route.open === 0);
});

t.test("a refused connection goes the other way at once", async (t) => {
  const { xapi, network, clock } = await setUp(t);
  await network.refuse();
  const { ms, outcome } = await timed(clock, xapi.connect());
  t.match(outcome, [{ status: "fulfilled" }]);
  t.ok(ms < 1_000, `${ms} ms`);
  await msUntil(clock, () => viaOf(xapi) === "xo2");
});

t.test("a lost packet does not change the way", async (t) => {
  const { xapi, network, clock, route } = await setUp(t);
  network.isDropping = true;
  const connected = xapi.connect();
  await msUntil(clock, () => route.requested.length > 0);
  network.isDropping = false;
  await timed(clock, connected);
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => route.open === 0);
  t.equal(viaOf(xapi), undefined);
});

t.test(
  "an invalid certificate is not a reason for the other way",
  async (t) => {
    const { xapi, route } = await setUp(t, { shown: other });
    await t.rejects(xapi.connect(), { code: "TLS_FINGERPRINT_MISMATCH" });
    t.same(route.requested, []);
  },
);

/** Connects in vain. @returns the error, and after which time of the clock, in ms */
async function failure(xapi: Xapi, clock: FakeClock) {
  // The client retries until it is disconnected.
  xapi.connect().catch(() => undefined);
  const ms = await msUntil(clock, () => xapi.state.name === "backing-off");
  const { state } = xapi;
  return { ms, cause: state.name === "backing-off" ? state.cause : undefined };
}

t.test("the certificate is verified through the other way too", async (t) => {
  const { xapi, network, clock, pool, route } = await setUp(t, {
    shown: other,
  });
  await network.refuse();
  const { cause } = await failure(xapi, clock);
  t.match(cause, { code: "CONNECTION_REFUSED" });
  t.equal(route.requested.length, 1);
  t.same(pool.calls, []);
});

t.test(
  "a pool that is down fails as it does without another way",
  async (t) => {
    for (const way of ["refused", "dropped"]) {
      const { xapi, network, clock, route } = await setUp(t);
      route.target = undefined;
      if (way === "refused") await network.refuse();
      else network.drop();
      const { ms, cause } = await failure(xapi, clock);
      const code =
        way === "refused" ? "CONNECTION_REFUSED" : "CONNECTION_TIMEOUT";
      t.match(cause, { code });
      t.ok(ms <= (way === "refused" ? 100 : 10_100), `${ms} ms`);
    }
  },
);

t.test("members that are down are not requested each time", async (t) => {
  const { xapi, network, clock, route } = await setUp(t);
  route.target = undefined;
  await network.refuse();
  await failure(xapi, clock);
  await msUntil(clock, () => route.requested.length >= 5);
  const start = clock.now();
  await msUntil(clock, () => route.requested.length >= 8);
  t.ok(clock.now() - start > 40_000);
});

t.test(
  "after packets are dropped, an action is sent in the other way, once",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t);
    await xapi.connect();
    await xapi.call("VM.get_all");
    network.drop();
    const acting = xapi.call("VM.start", ["OpaqueRef:vm", false, false]);
    const { ms, outcome } = await timed(clock, acting);
    t.match(outcome, [{ status: "fulfilled" }]);
    t.ok(ms < 2_000, `${ms} ms`);
    t.equal(pool.calls.filter(({ method }) => method === "VM.start").length, 1);
  },
);

t.test(
  "actions that wait for their answers when packets are dropped do not delay other calls",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t, {
      maxConcurrentCalls: 2,
    });
    await xapi.connect();
    pool.answer(
      poolScript(({ method }) =>
        method === "VM.start"
          ? { silent: true }
          : method === "VM.get_all"
            ? { value: [] }
            : undefined,
      ),
    );
    const starts = ["a", "b"].map((vm) =>
      xapi.call("VM.start", [`OpaqueRef:${vm}`, false, false]),
    );
    for (const start of starts) start.catch(() => undefined);
    const isSent = () =>
      pool.calls.filter(({ method }) => method === "VM.start").length === 2;
    await until(isSent);
    network.drop();
    const { ms, outcome } = await timed(clock, xapi.call("VM.get_all"));
    t.match(outcome, [{ status: "fulfilled" }]);
    t.ok(ms < 12_000, `${ms} ms`);
  },
);

t.test(
  "a caller is notified that an action may be lost, long before its time limit",
  async (t) => {
    const { xapi, network, clock, pool } = await setUp(t);
    await xapi.connect();
    pool.answer(
      poolScript(({ method }) =>
        method === "Async.VM.start" ? { silent: true } : undefined,
      ),
    );
    const reported: string[] = [];
    const start = xapi.callAsync("VM.start", ["OpaqueRef:a", false, false], {
      onUnanswered: (via) => reported.push(via),
    });
    start.catch(() => undefined);
    await until(() =>
      pool.calls.some(({ method }) => method === "Async.VM.start"),
    );
    network.drop();
    const ms = await msUntil(clock, () => reported.length > 0);
    t.ok(ms < 12_000, `${ms} ms`);
    const later = clock.now() + 10_000;
    await msUntil(clock, () => clock.now() > later);
    t.same(reported, ["xo2"], "once");
  },
);
