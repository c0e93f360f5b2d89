import { createInventory } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { key } from "./snapshot-pool.js";
import { until } from "./until.js";

/**
 * A pool whose state follows from the number of its last change, and a program
 * that keeps it on disk until it is killed:
 *
 *     node snapshot-writer.js <directory> <change to start from>
 */

const OBJECTS = 200;
const padding = "x".repeat(2_000);

function recordAt(change: number): object {
  return { uuid: `u${change}`, change, padding };
}

/** Each change updates or adds one object, and some delete another. */
function apply(
  change: number,
  put: (ref: string, record: object) => void,
  remove: (ref: string) => void,
): void {
  put(`OpaqueRef:${(change * 7919) % OBJECTS}`, recordAt(change));
  if (change % 3 === 0) remove(`OpaqueRef:${(change * 104729 + 1) % OBJECTS}`);
}

/** All objects after this number of changes. */
export function stateAfter(changes: number): Record<string, object> {
  const state = new Map<string, object>();
  for (let change = 1; change <= changes; change++)
    apply(
      change,
      (ref, record) => state.set(ref, record),
      (ref) => state.delete(ref),
    );
  return Object.fromEntries(state);
}

async function write(directory: string, from: number): Promise<void> {
  const pool = new FakePool(["VM"]);
  pool.batchSize = 50;
  for (const [ref, record] of Object.entries(stateAfter(from)))
    pool.put("VM", ref, record);
  const memory = { directory, key, checkpointMs: 1 };
  const inventory = createInventory({ snapshotCache: memory });
  const handle = inventory.addPool("p", pool);
  await until(() => handle.status().state === "watching");
  for (let change = from + 1; ; change++) {
    apply(
      change,
      (ref, record) => {
        pool.put("VM", ref, record);
      },
      (ref) => {
        pool.delete("VM", ref);
      },
    );
    if (change % 5 > 0) continue;
    const { polls } = pool;
    pool.poll();
    await until(() => pool.polls > polls);
    const { lastCheckpointAt } = inventory.stats.snapshotCache!;
    if (lastCheckpointAt !== undefined && process.connected) {
      process.send!("writing");
      process.disconnect();
    }
  }
}

const [, program, directory, from] = process.argv;
if (program?.endsWith("snapshot-writer.js") === true)
  await write(directory!, Number(from));
