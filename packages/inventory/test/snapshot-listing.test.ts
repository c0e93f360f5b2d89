import t from "tap";
import type { FakePool } from "./fake-pool.js";
import { CHECKPOINT_MS, poolOf, run, settle } from "./snapshot-pool.js";
import { until } from "./until.js";

/** Listings of the pool wait until the result is called. */
function holdListings(pool: FakePool): () => void {
  let letGo: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const list = pool.listRecords.bind(pool);
  pool.listRecords = async (className, options) => {
    await released;
    return list(className, options);
  };
  return letGo;
}

async function runWhileAnotherIsListed(directory: string) {
  const first = await run(directory, poolOf(5));
  await until(first.isRestored);
  const other = poolOf(5);
  const letGo = holdListings(other);
  const { inventory, clock } = first;
  const handle = inventory.addPool("q", other);
  await until(() => handle.status().state === "listing");
  /** The timers of checkpoints go off. */
  const passCheckpoint = async () => {
    clock.advance(CHECKPOINT_MS);
    await settle();
  };
  const bytes = () => inventory.stats.snapshotCache!.bytes;
  return { ...first, other: handle, letGo, passCheckpoint, bytes };
}

t.test("snapshots are written when the pools have been listed", async (t) => {
  const { inventory, checkpoint, passCheckpoint, bytes, other, letGo } =
    await runWhileAnotherIsListed(t.testdir());
  await passCheckpoint();
  await passCheckpoint();
  t.equal(bytes(), 0, "not yet");
  letGo();
  await until(() => other.status().state === "watching");
  await checkpoint();
  await until(() => bytes() > 0);
  await inventory.stop();
});

t.test("a pool that hangs delays snapshots half a minute", async (t) => {
  const { inventory, passCheckpoint, bytes, letGo } =
    await runWhileAnotherIsListed(t.testdir());
  const most = 30_000 / CHECKPOINT_MS;
  for (let passed = 0; passed < most; passed++) await passCheckpoint();
  t.equal(bytes(), 0, "not yet");
  await passCheckpoint();
  await until(() => bytes() > 0);
  letGo();
  await inventory.stop();
});

t.test("the last checkpoint does not wait for listings", async (t) => {
  const directory = t.testdir();
  const first = await runWhileAnotherIsListed(directory);
  const stopped = first.inventory.stop();
  first.letGo();
  await stopped;
  const second = await run(directory, poolOf(0), { isAway: true });
  await until(second.isRestored);
  t.equal(second.inventory.count("p", "VM"), 5);
  await second.inventory.stop();
});
