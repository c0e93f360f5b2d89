import { XoError } from "@xo-server/model";
import t from "tap";
import type { LeaseHandlers } from "../../src/cluster/contention.js";
import { Leases } from "../../src/cluster/leases.js";
import { FakeClock } from "../fake-clock.js";
import { LeaseDatabase, type LeaseStore } from "./lease-database.js";

/** Time of a lease, in ms: much longer than the time in which nothing is sent at its end. */
const LEASE_MS = 5_000;
const SILENT_MS = 1_000;

async function setUp(handlers: LeaseHandlers = {}) {
  const clock = new FakeClock();
  const database = new LeaseDatabase(() => clock.now());
  const releases: (readonly string[])[] = [];
  const transfers: string[] = [];
  const leasesOf = (name: string) =>
    new Leases({
      store: {
        ...methodsOf(database),
        release: (instance, subjects) => {
          releases.push(subjects);
          return database.release(instance, subjects);
        },
        transfer: (fence, servers, ttlMs) => {
          transfers.push(servers.to);
          return database.transfer(fence, servers, ttlMs);
        },
      },
      self: { owner: name, instance: `${name} 1` },
      isShared: true,
      servers: () => ["ada", "bob"],
      leaseMs: LEASE_MS,
      clock,
      logger: { info: () => undefined, warn: () => undefined },
    });
  const ada = leasesOf("ada");
  const held = new Map<string, ReturnType<Leases["compete"]>>();
  for (const subject of ["jobs", "balancer/p", "server/ada"])
    held.set(subject, ada.compete(subject, handlers));
  for (const { hasTried } of held.values()) await hasTried;
  const free = async () =>
    (await database.list())
      .filter(({ expiresInMs }) => expiresInMs === 0)
      .map(({ subject }) => subject)
      .toSorted();
  return { ada, held, releases, transfers, free, clock, database, leasesOf };
}

function methodsOf(database: LeaseDatabase): LeaseStore {
  return {
    take: (...lease) => database.take(...lease),
    renew: (...lease) => database.renew(...lease),
    release: (...lease) => database.release(...lease),
    request: (...lease) => database.request(...lease),
    transfer: (...lease) => database.transfer(...lease),
    listFree: (...self) => database.listFree(...self),
    list: () => database.list(),
  };
}

/** What does not wait for the clock is done. */
async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

t.test(
  "without commands under way all leases are released at once",
  async (t) => {
    const { ada, releases, free } = await setUp();
    await ada.stop();
    t.equal(releases.length, 1, "by one statement");
    t.same(await free(), ["balancer/p", "jobs", "server/ada"]);
  },
);

t.test(
  "leases are released when every command that was sent was answered",
  async (t) => {
    const { ada, held, free } = await setUp();
    const lease = held.get("jobs")!.lease!;
    const first = lease.beginCommand();
    const second = lease.beginCommand();
    const stopped = ada.stop();
    t.throws(() => lease.beginCommand(), { code: "LEASE_LOST" });
    await settle();
    first();
    first();
    await settle();
    t.same(await free(), [], "one is not answered");
    second();
    await stopped;
    t.same(await free(), ["balancer/p", "jobs", "server/ada"]);
  },
);

t.test(
  "a command without an answer counts as arrived after the silent time",
  async (t) => {
    const { ada, held, free, clock } = await setUp();
    held.get("jobs")!.lease!.beginCommand();
    const stopped = ada.stop();
    clock.pass(SILENT_MS - 1);
    await settle();
    t.same(await free(), []);
    clock.pass(1);
    await stopped;
    t.same(await free(), ["balancer/p", "jobs", "server/ada"]);
  },
);

t.test("a check does not release what waits for an answer", async (t) => {
  const { ada, held, free } = await setUp();
  const onAnswer = held.get("jobs")!.lease!.beginCommand();
  const left = ada.leave();
  await ada.check();
  t.same(await free(), []);
  onAnswer();
  await left;
  t.same(await free(), ["balancer/p", "jobs"]);
});

t.test("a server that leaves keeps its tasks and takes nothing", async (t) => {
  const { ada, held, free, leasesOf } = await setUp();
  await ada.leave();
  t.same(await free(), ["balancer/p", "jobs"]);
  t.ok(held.get("server/ada")!.lease!.isValid);
  await ada.check();
  t.equal(await held.get("jobs")!.obtain(), undefined);
  t.same(await free(), ["balancer/p", "jobs"], "no server has them");
  const bob = leasesOf("bob");
  await bob.compete("jobs").hasTried;
  t.same(await free(), ["balancer/p"], "another server takes one");
  await ada.stop();
  t.same(await free(), ["balancer/p", "server/ada"]);
});

t.test("what cannot move now is handed over when it can", async (t) => {
  let isMigrating = true;
  const { ada, free } = await setUp({ mayMove: () => !isMigrating });
  await ada.leave();
  await ada.check();
  t.same(await free(), []);
  isMigrating = false;
  await ada.check();
  t.same(await free(), ["balancer/p", "jobs"]);
});

t.test(
  "a subject that is new while the database is unavailable is taken later",
  async (t) => {
    const clock = new FakeClock();
    const database = new LeaseDatabase(() => clock.now());
    let isAvailable = false;
    const leases = new Leases({
      store: {
        ...methodsOf(database),
        take: async (...lease) => {
          if (isAvailable) return database.take(...lease);
          throw new XoError("STORE_UNAVAILABLE", { reason: "test" });
        },
      },
      self: { owner: "ada", instance: "ada 1" },
      isShared: true,
      servers: () => ["ada"],
      leaseMs: LEASE_MS,
      clock,
      logger: { info: () => undefined, warn: () => undefined },
    });
    const contention = leases.compete("jobs");
    await contention.hasTried;
    await leases.check();
    t.equal(contention.lease, undefined);
    isAvailable = true;
    await leases.check();
    t.ok(contention.lease?.isValid);
    await leases.stop();
  },
);

for (const [what, hasDatabase] of [
  ["when they expire, also more than its share", true],
  ["in shares after the database was unavailable", false],
] as const)
  t.test(`a server takes leases that were not renewed ${what}`, async (t) => {
    const clock = new FakeClock();
    const database = new LeaseDatabase(() => clock.now());
    let isAvailable = true;
    const leases = new Leases({
      store: {
        ...methodsOf(database),
        listFree: async (...args) => {
          if (isAvailable) return database.listFree(...args);
          throw new XoError("STORE_UNAVAILABLE", { reason: "test" });
        },
      },
      self: { owner: "ada", instance: "ada 1" },
      isShared: true,
      servers: () => ["ada", "bob"],
      leaseMs: LEASE_MS,
      clock,
      logger: { info: () => undefined, warn: () => undefined },
    });
    t.teardown(() => leases.stop());
    const bob = { owner: "bob", instance: "bob 1" };
    const subjects = ["a", "b", "c", "d"];
    const expiresAt = clock.now() + 300 + LEASE_MS;
    const own = leases.compete("e");
    await own.hasTried;
    clock.pass(300);
    for (const subject of subjects) await database.take(subject, bob, LEASE_MS);
    const requested = subjects.map((subject) => leases.compete(subject));
    const held = () => requested.filter(({ lease }) => lease).length;
    isAvailable = hasDatabase;
    while (clock.now() < expiresAt - 1) {
      clock.pass(1);
      await settle();
    }
    t.equal(held(), 0);
    isAvailable = true;
    if (!hasDatabase) await leases.check();
    clock.pass(1);
    await settle();
    t.equal(held(), hasDatabase ? 4 : 2, "with its own three of five");
  });

t.test("a server that was killed gets no lease", async (t) => {
  for (const isKilled of [false, true]) {
    const { ada, clock, database, transfers } = await setUp();
    const bob = { owner: "bob", instance: "bob 1" };
    await database.take("server/bob", bob, LEASE_MS);
    for (let check = 0; check < 30; check++) {
      clock.pass(LEASE_MS / 5);
      if (!isKilled) await database.renew(bob.instance, LEASE_MS);
      await ada.check();
      await settle();
    }
    if (isKilled) t.same(transfers, []);
    else t.equal(transfers[0], "bob");
  }
});
