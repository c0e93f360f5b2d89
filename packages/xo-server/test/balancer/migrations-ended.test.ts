import t from "tap";
import { migrationsEnded } from "../../src/hosts/migrations-ended.js";
import { FakeClock } from "../fake-clock.js";
import { SmallPool } from "./small-pool.js";

function setUp() {
  const clock = new FakeClock();
  const pool = new SmallPool(clock);
  pool.addHosts("a", "b");
  pool.addVm("x", "b", { operations: ["pool_migrate"] });
  const abort = new AbortController();
  const { signal } = abort;
  let hasEnded = false;
  const parts = { objects: pool.objects, clock, signal };
  const ended = migrationsEnded(["a", "b", "gone"], parts).then(() => {
    hasEnded = true;
  });
  const pass = async (ms: number) => {
    clock.pass(ms);
    await new Promise(setImmediate);
    return hasEnded;
  };
  return { pool, ended, pass, abort };
}

t.test("moves that others have begun are waited for", async (t) => {
  const { pool, ended, pass } = setUp();
  for (let second = 0; second < 5; second++) t.notOk(await pass(1_000));
  pool.vms.get("x")!.operations = ["snapshot"];
  t.ok(await pass(1_000));
  await ended;
});

t.test("a session that does not end is not awaited forever", async (t) => {
  const { pass } = setUp();
  for (let second = 0; second < 899; second++) await pass(1_000);
  t.notOk(await pass(0));
  t.ok(await pass(1_000));
});

t.test("a call whose caller has disconnected", async (t) => {
  const { ended, pass, abort } = setUp();
  const rejected = t.rejects(ended, { code: "ABORTED" });
  abort.abort();
  await pass(0);
  await rejected;
});
