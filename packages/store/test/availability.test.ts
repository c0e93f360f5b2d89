import t from "tap";
import { silentLogger } from "@xo-server/kit";
import { createManualClock } from "@xo-server/store/conformance";
import { CacheSynchronizer } from "../src/cache/cache-synchronizer.js";
import { Availability } from "../src/commit/availability.js";
import { Committer } from "../src/commit/committer.js";
import type { Engine } from "../src/engines/engine.js";

class Gone extends Error {
  readonly code = "ECONNREFUSED";
}

/** An engine that is reachable or not. */
function setUp() {
  const clock = createManualClock();
  const database = { isThere: false, isFull: false, probes: 0 };
  const execute = async () => {
    database.probes++;
    if (!database.isThere) throw new Gone("connect ECONNREFUSED");
    return [];
  };
  const query = { select: () => query, limit: () => query, execute };
  const write = async () => {
    if (database.isFull) throw new Gone("database or disk is full");
  };
  const engine = {
    name: "postgres",
    reader: { selectFrom: () => query },
    writer: { transaction: () => ({ execute: write }) },
    classify: (error: unknown) =>
      error instanceof Gone ? "unavailable" : "other",
  } as unknown as Engine;
  const availability = new Availability({
    engine,
    clock,
    logger: silentLogger,
    backoff: { firstMs: 100, maxMs: 1_000 },
    random: () => 1,
  });
  /** Waits until the promises of a probe have settled. */
  const settle = () => new Promise(setImmediate);
  return { clock, engine, database, availability, settle };
}

t.test("probes back off up to a limit", async (t) => {
  const { clock, database, availability, settle } = setUp();
  availability.translateError(new Gone("away"));
  t.equal(availability.state, "unavailable");
  for (const ms of [100, 200, 400, 800, 1_000, 1_000]) {
    const before = database.probes;
    clock.advance(ms - 1);
    await settle();
    t.equal(database.probes, before, `not before ${ms} ms`);
    clock.advance(1);
    await settle();
    t.equal(database.probes, before + 1, `after ${ms} ms`);
  }
});

t.test(
  "a database that fails again and again after probes that succeed is probed less and less often",
  async (t) => {
    const { clock, database, availability, settle } = setUp();
    database.isThere = true;
    const fail = () => availability.translateError(new Gone("disk full"));
    const recoversAfter = async (ms: number) => {
      fail();
      clock.advance(ms - 1);
      await settle();
      t.equal(availability.state, "unavailable", `not before ${ms} ms`);
      clock.advance(1);
      await settle();
      t.equal(availability.state, "available", `after ${ms} ms`);
    };
    for (const ms of [100, 200, 400, 800, 1_000, 1_000])
      await recoversAfter(ms);
    clock.advance(1_000);
    await recoversAfter(100);
  },
);

t.test(
  "queries fail immediately while the database is unreachable",
  async (t) => {
    const { availability } = setUp();
    let asked = 0;
    const request = () =>
      availability.run(async () => {
        asked++;
        throw new Gone("connect ECONNREFUSED");
      });
    const error = { code: "STORE_UNAVAILABLE", message: /ECONNREFUSED/ };
    await t.rejects(request(), error);
    await t.rejects(request(), error);
    t.equal(asked, 1);
    availability.close();
    await t.rejects(request(), { code: "CLOSED" });
  },
);

t.test(
  "available again after the cache was reloaded, notified once",
  async (t) => {
    const { clock, database, availability, settle } = setUp();
    const states: string[] = [];
    availability.onState((state) => states.push(state));
    let recoveries = 0;
    availability.onRecovery(async () => {
      if (++recoveries === 1) throw new Gone("gone again");
    });
    availability.translateError(new Gone("away"));
    availability.translateError(new Gone("still away"));
    database.isThere = true;
    clock.advance(100);
    await settle();
    t.same([availability.state, recoveries], ["unavailable", 1]);
    clock.advance(200);
    await settle();
    t.same([availability.state, recoveries], ["available", 2]);
    t.same(states, ["unavailable", "available"]);
    t.equal(clock.pending, 0);
  },
);

t.test(
  "a disk that is full is not available, although it is read",
  async (t) => {
    const { clock, engine, database, availability, settle } = setUp();
    const committer = new Committer(engine, availability);
    const synchronizer = new CacheSynchronizer(
      {
        engine,
        committer,
        availability,
        clock,
        pollMs: 1_000,
        logger: silentLogger,
        refreshKeys: async () => undefined,
      },
      [],
    );
    const states: string[] = [];
    availability.onState((state) => states.push(state));
    Object.assign(database, { isThere: true, isFull: true });
    await t.rejects(
      committer.run(async () => undefined),
      {
        code: "STORE_UNAVAILABLE",
      },
    );
    for (let i = 0; i < 4; i++) {
      clock.advance(1_000);
      for (let turn = 0; turn < 10; turn++) await settle();
    }
    t.ok(database.probes >= 2, "it was probed");
    t.same(states, ["unavailable"]);
    database.isFull = false;
    clock.advance(1_000);
    for (let turn = 0; turn < 10; turn++) await settle();
    t.same(states, ["unavailable", "available"]);
    synchronizer.stop();
  },
);

t.test("errors of a query do not make the store unavailable", async (t) => {
  const { availability } = setUp();
  const question = () => Promise.reject(new SyntaxError("no such column"));
  await t.rejects(availability.run(question), SyntaxError);
  t.equal(availability.state, "available");
});

t.test("no probes after close", async (t) => {
  const { clock, database, availability, settle } = setUp();
  availability.translateError(new Gone("away"));
  availability.close();
  clock.advance(10_000);
  await settle();
  t.equal(database.probes, 0);
});
