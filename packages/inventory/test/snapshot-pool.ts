import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InventoryOptions } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { createTestInventory } from "./mirror-pool.js";
import { until } from "./until.js";

export const key = Uint8Array.from({ length: 32 }, (_, i) => i);
export const CHECKPOINT_MS = 5_000;

export type MemoryTestOptions = NonNullable<InventoryOptions["snapshotCache"]>;

/** One run of a server that keeps what it knows in `directory`; the pool is there, or cannot be reached. */
export async function run(
  directory: string,
  pool: FakePool,
  options: Partial<MemoryTestOptions> & { readonly isAway?: boolean } = {},
) {
  const { isAway = false, ...memory } = options;
  pool.setState(isAway ? "connecting" : "connected");
  const test = createTestInventory({
    snapshotCache: { directory, key, ...memory },
  });
  const { inventory, clock } = test;
  const handle = inventory.addPool("p", pool);
  const isRestored = () =>
    isAway
      ? handle.status().staleSince !== undefined
      : handle.status().state === "watching";
  /** Lets the timers of checkpoints go off and waits for what they write. */
  const checkpoint = async () => {
    const before = inventory.stats.snapshotCache!.lastCheckpointAt;
    clock.advance(CHECKPOINT_MS);
    await until(
      () => inventory.stats.snapshotCache!.lastCheckpointAt !== before,
    );
  };
  const poll = async () => {
    const polls = pool.polls;
    pool.poll();
    await until(() => pool.polls > polls);
  };
  return { ...test, handle, isRestored, checkpoint, poll };
}

/** Waits until the loop has had time for reads and writes that come to nothing. */
export async function settle(turns = 50): Promise<void> {
  for (let i = 0; i < turns; i++)
    await new Promise((resolve) => setTimeout(resolve, 1));
}

export function poolOf(count: number, className = "VM"): FakePool {
  const pool = new FakePool(["host", "VM", "VBD", "task"]);
  for (let i = 0; i < count; i++)
    pool.put(className, `OpaqueRef:${i}`, { uuid: `u${i}`, n: 0 });
  return pool;
}

export function filesOf(directory: string, poolId = "p"): string[] {
  return readdirSync(join(directory, poolId)).toSorted();
}

/** Rewrites the pool's file. */
export function corrupt(
  directory: string,
  change: (bytes: Buffer) => Buffer,
): void {
  const path = join(directory, "p", filesOf(directory)[0]!);
  writeFileSync(path, change(readFileSync(path)));
}
