import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import {
  collect,
  createBench,
  once,
  type StoreHarness,
  type TestDatabase,
} from "./harness.js";

const passphrase = "a passphrase";

const policy = { mode: "automatic", goal: "density", mostMoves: 7 };
const rules = [
  { name: "a", kind: "together", strict: true, vms: ["v"] },
  { name: "b", kind: "apart", strict: false, tag: "t" },
  { name: "c", kind: "location", strict: true, hosts: ["h"], tag: "t" },
];
const currentRules = [
  { name: "a", kind: "affinity", required: true, vms: ["v"] },
  { name: "b", kind: "anti-affinity", required: false, tag: "t" },
  {
    name: "c",
    kind: "host-affinity",
    required: true,
    hosts: ["h"],
    tag: "t",
  },
];
const currentPolicy = {
  mode: "automatic",
  goal: "consolidate",
  maxMigrationsPerRun: 7,
};
const score = { locations: 1, groups: 2, room: 0.5 };
const run = {
  goal: "density",
  stopped: "most-moves",
  moves: [
    { vm: "a", status: "moving", purpose: "repair", begunAt: 1, score },
    { vm: "b", status: "left", purpose: "density" },
  ],
};
const currentScore = { hostAffinity: 1, groups: 2, headroom: 0.5 };
const currentRun = {
  goal: "consolidate",
  stopped: "max-migrations",
  moves: [
    {
      vm: "a",
      status: "migrating",
      purpose: "enforce-rules",
      startedAt: 1,
      score: currentScore,
    },
    { vm: "b", status: "skipped", purpose: "consolidate" },
  ],
};
const paused = { code: "others-move", vms: ["a"] };

/** Placement rules and data of the load balancer with the names of release 0.1. */
export async function testOldNames(t: Test, harness: StoreHarness) {
  t.test("a migration gives stored rows the current names", async (t) => {
    const bench = await createBench(t, harness);
    const old = await bench.open();
    await fill(old);
    await old.balancerPolicies.set("both", {
      mostMoves: 7,
      maxMigrationsPerRun: 9,
    });
    await old.close();
    await migrateAgain(bench);
    const store = await bench.open();
    t.strictSame(rulesOf(store), currentRules);
    t.strictSame(store.balancerPolicies.get("p")?.body, currentPolicy);
    t.strictSame(
      store.balancerPolicies.get("both")?.body,
      { maxMigrationsPerRun: 9 },
      "a current name takes precedence",
    );
    const { runs } = await store.balancerRuns.list({ pool: "p", limit: 1000 });
    t.equal(runs.length, 150, "more than one page");
    for (const { body } of runs) t.strictSame(body, currentRun);
    t.strictSame(
      (await store.balancerWatches.list()).map(({ state }) => state),
      [
        { since: 1, state: { state: "idle", why: "no-beneficial-migration" } },
        {
          since: 1,
          state: {
            state: "paused",
            reason: { code: "other-migrations", vms: ["a"] },
          },
        },
      ],
    );
  });

  t.test("a migration leaves current rows as they are", async (t) => {
    const bench = await createBench(t, harness);
    const first = await bench.open();
    await first.balancerRuns.begin({
      pool: "p",
      owner: "o",
      status: "success",
      body: currentRun,
    });
    await first.balancerPolicies.set("p", currentPolicy);
    await first.close();
    await migrateAgain(bench);
    const store = await bench.open();
    const { runs } = await store.balancerRuns.list({ pool: "p" });
    t.strictSame(runs[0]?.body, currentRun);
    t.strictSame(store.balancerPolicies.get("p")?.body, currentPolicy);
  });

  t.test("an import of an old export has the current names", async (t) => {
    const source = await (await createBench(t, harness)).open();
    // An import needs a user who can sign in.
    await source.users.create({
      name: "ada",
      password: "pw",
      permission: "admin",
    });
    await fill(source);
    const file = await collect(source.exportConfiguration(passphrase));
    const target = await (await createBench(t, harness)).open();
    await target.importConfiguration(once(file), passphrase);
    t.strictSame(rulesOf(target), currentRules);
    t.strictSame(target.balancerPolicies.get("p")?.body, currentPolicy);
  });
}

/** Stores rows as release 0.1 did. */
async function fill(store: Store): Promise<void> {
  for (const rule of rules)
    await store.placementRules.create({ pool: "p", ...rule } as never);
  await store.balancerPolicies.set("p", policy);
  for (let i = 0; i < 150; i++)
    await store.balancerRuns.begin({
      pool: "p",
      owner: "o",
      status: "success",
      body: run,
    });
  const states = {
    p: { state: "watching", why: "no-better" },
    q: { state: "paused", reason: paused },
  };
  for (const [pool, state] of Object.entries(states))
    await store.balancerWatches.put({
      pool,
      owner: "o",
      state: { since: 1, state },
    });
}

/** As before the migration, so that the next start applies it. */
async function migrateAgain(database: Pick<TestDatabase, "query">) {
  for (const column of ["address", "fingerprint"])
    await database.query(`alter table cluster_servers drop column ${column}`);
  await database.query(
    "delete from kysely_migration where name >= '020-balancing-names'",
  );
}

/** Without ids, which are random. */
function rulesOf(store: Store): object[] {
  return Array.from(store.placementRules.list("p"))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((rule) => {
      const { name, kind, required, vms, tag, hosts } = rule;
      return JSON.parse(
        JSON.stringify({ name, kind, required, vms, tag, hosts }),
      ) as object;
    });
}
