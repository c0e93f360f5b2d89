import t from "tap";
import { CHANGED_AT, startPool } from "../src/index.js";
import { Churn } from "../src/churn.js";
import { createRandom } from "../src/random.js";
import { Database } from "../src/database.js";
import { generateFleet } from "../src/fleet/generate-fleet.js";

function database(): Database {
  const db = new Database(createRandom(1));
  db.load(generateFleet({ hosts: 1, vms: 5, seed: 1 }));
  return db;
}

const stillClock = {
  now: () => 1_795_000_000_000.25,
  setTimeout: () => undefined,
  clearTimeout: () => undefined,
};

t.test("the same seed makes the same changes", async (t) => {
  const changes = (): string[] => {
    const db = database();
    const seen: string[] = [];
    db.onChange(({ operation, className, ref }) =>
      seen.push(`${operation} ${className} ${ref}`),
    );
    new Churn(db, stillClock, createRandom(5)).change(500);
    return seen;
  };
  t.same(changes(), changes());
});

t.test("it creates, changes and removes objects of many classes", async (t) => {
  const db = database();
  const seen = new Set<string>();
  db.onChange(({ operation, className }) => {
    seen.add(`${operation} ${className}`);
  });
  new Churn(db, stillClock, createRandom(5)).change(5000);
  for (const change of [
    "mod VM",
    "mod VM_metrics",
    "mod host_metrics",
    "add task",
    "mod task",
    "del task",
    "add message",
    "del message",
  ])
    t.ok(seen.has(change), change);
});

t.test("a changed VM carries the time of the change", async (t) => {
  const db = database();
  new Churn(db, stillClock, createRandom(5)).change(100);
  const stamps = [...db.records("VM")]
    .map(
      ([, record]) =>
        (record["other_config"] as Record<string, string>)[CHANGED_AT],
    )
    .filter((stamp) => stamp !== undefined);
  t.ok(stamps.length > 0);
  t.equal(new Set(stamps).size, 1);
  t.equal(Number(stamps[0]), stillClock.now());
});

t.test("a pool changes while it runs, until it is stopped", async (t) => {
  const pool = await startPool({ hosts: 1, vms: 5, churn: 1000 });
  t.teardown(() => pool.stop());
  await new Promise<void>((resolve) => {
    const end = pool.database.onChange(() => {
      end();
      resolve();
    });
  });
  pool.setChurn(0);
  const { generation } = pool.database;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(pool.database.generation, generation);
});
