import t from "tap";
import type { FakePool } from "./fake-pool.js";
import { CHECKPOINT_MS, poolOf, run, settle } from "./snapshot-pool.js";
import { until } from "./until.js";

/** Listings of the pool wait until the result is called. */
function holdListings(pool: FakePool): () => void {
  let releaseListing: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (releaseListing = resolve));
  const list = pool.listRecords.bind(pool);
  pool.listRecords = async (className, options) => {
    await released;
    return list(className, options);
  };
  return releaseListing;
}

async function runWhileAnotherIsListed(directory: string) {
  const first = await run(directory, poolOf(5));
  await until(first.isRestored);
  const other = poolOf(5);
  const releaseListing = holdListings(other);
  const { inventory, clock } = first;
  const handle = inventory.addPool("q", other);
  await until(() => handle.status().state === "listing");
  /** The timers of checkpoints go off. */
  const passCheckpoint = async () => {
    clock.advance(CHECKPOINT_MS);
    await settle();
  };
  const bytes = () => inventory.stats.snapshotCache!.bytes;
  return { ...first, other: handle, releaseListing, passCheckpoint, bytes };
}

t.test("snapshots are written when the pools have been listed", async (t) => {
  const {
    inventory,
    checkpoint,
    passCheckpoint,
    bytes,
    other,
    releaseListing,
  } = await runWhileAnotherIsListed(t.testdir());
  await passCheckpoint();
  await passCheckpoint();
  t.equal(bytes(), 0, "not yet");
  releaseListing();
  await until(() => other.status().state === "watching");
  await checkpoint();
  await until(() => bytes() > 0);
  await inventory.stop();
});

t.test("a pool that hangs delays snapshots half a minute", async (t) => {
  const { inventory, passCheckpoint, bytes, releaseListing } =
    await runWhileAnotherIsListed(t.testdir());
  const most = 30_000 / CHECKPOINT_MS;
  for (let passed = 0; passed < most; passed++) await passCheckpoint();
  t.equal(bytes(), 0, "not yet");
  await passCheckpoint();
  await until(() => bytes() > 0);
  releaseListing();
  await inventory.stop();
});

t.test("the last checkpoint does not wait for listings", async (t) => {
  const directory = t.testdir();
  const first = await runWhileAnotherIsListed(directory);
  const stopped = first.inventory.stop();
  first.releaseListing();
  await stopped;
  const second = await run(directory, poolOf(0), { isAway: true });
  await until(second.isRestored);
  t.equal(second.inventory.count("p", "VM"), 5);
  await second.inventory.stop();
});
