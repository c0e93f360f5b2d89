import {
  createInventory,
  type AddPoolOptions,
  type Change,
  type Inventory,
  type InventoryOptions,
} from "@xo-server/inventory";
import { FakeClock } from "./fake-clock.js";
import { FakePool } from "./fake-pool.js";
import { until } from "./until.js";

export interface LogLine {
  readonly level: string;
  readonly message: string;
}

/** An inventory with a fake clock and a log to look at. */
export function createTestInventory(options: InventoryOptions = {}) {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  const write = (level: string) => (message: string) => {
    lines.push({ level, message });
  };
  const inventory = createInventory({
    clock,
    // Readers are served by the test: no time passes by itself.
    readersWaitMs: 0,
    random: () => 0.5,
    logger: {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
    },
    ...options,
  });
  return { inventory, clock, lines };
}

/** An inventory that mirrors one pool, already listed. */
export async function mirror(
  pool: FakePool,
  options: InventoryOptions & AddPoolOptions = {},
  prepare: (inventory: Inventory) => void = () => undefined,
) {
  const test = createTestInventory(options);
  prepare(test.inventory);
  const changes: Change[] = [];
  test.inventory.subscribe((batch) => changes.push(...batch));
  const handle = test.inventory.addPool("p", pool, options);
  await until(() => handle.status().state === "watching");
  /** One poll of events, applied and followed by what it calls for. */
  const poll = async () => {
    const polls = pool.polls;
    pool.poll();
    await until(() => pool.polls > polls);
  };
  return { ...test, handle, changes, poll };
}

/** What the inventory holds of a pool, as plain objects by class and reference. */
export function contentOf(inventory: Inventory, poolId: string) {
  const content: Record<string, Record<string, unknown>> = {};
  for (const className of inventory.counts(poolId).keys()) {
    const objects: Record<string, unknown> = {};
    for (const { ref, record } of inventory.list(className, { poolId }))
      objects[ref] = record;
    content[className] = objects;
  }
  return content;
}

/** The same of the pool itself. */
export function contentOfPool(pool: FakePool) {
  const content: Record<string, Record<string, unknown>> = {};
  for (const [className, objects] of pool.objects)
    if (objects.size > 0) content[className] = Object.fromEntries(objects);
  return content;
}
