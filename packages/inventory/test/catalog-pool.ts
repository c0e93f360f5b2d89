import {
  createCatalog,
  type Catalog,
  type CatalogOptions,
  type Frame,
  type Inventory,
  type Steps,
} from "@xo-server/inventory";
import { objectsOf } from "./catalog-reader.js";
import type { FakeClock } from "./fake-clock.js";
import { FakePool } from "./fake-pool.js";
import { mirror } from "./mirror-pool.js";
import { createTestViews } from "./test-views.js";

export const POOL_ID = uuidOf("pool");

/** A uuid made of a name. */
export function uuidOf(name: string): string {
  const hex = Buffer.from(name).toString("hex").padEnd(32, "0").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export function refOf(name: string): string {
  return `OpaqueRef:${uuidOf(name)}`;
}

export function record(name: string, more: object = {}) {
  return { uuid: uuidOf(name), name_label: name, ...more };
}

/** A pool with its own object, a host, an SR and these VMs. */
export function createPool(...vms: string[]): FakePool {
  const pool = new FakePool(["pool", "host", "VM", "VBD", "SR", "message"]);
  pool.put("pool", refOf("pool"), record("pool"));
  pool.put("host", refOf("host"), record("host"));
  pool.put("SR", refOf("sr"), record("sr"));
  for (const name of vms)
    pool.put("VM", refOf(name), record(name, { host: refOf("host") }));
  return pool;
}

/**
 * A catalog of test views over one mirrored pool, following all its classes,
 * with a subscriber that has read all objects.
 */
export async function catalogOf(
  pool: FakePool,
  options: Partial<CatalogOptions> = {},
) {
  const test = await mirror(pool);
  const { views, builds } = createTestViews();
  const catalog = createCatalog(test.inventory, {
    views,
    clock: test.clock,
    random: () => 0.5,
    ...options,
  });
  for (const { className } of options.views ?? views)
    await catalog.follow(className);
  const frames: Frame[] = [];
  catalog.feed.subscribe((frame) => frames.push(frame));
  for (const table of catalog.tables.values()) objectsOf(table);
  /** Publishes pending changes. */
  const flush = (ms?: number) => flushed(test.inventory, test.clock, ms);
  const stop = async () => {
    catalog.stop();
    await test.handle.stop();
  };
  return { ...test, catalog, builds, frames, flush, stop };
}

/** Lets a window pass, and waits for what it brings. */
export async function flushed(
  inventory: Inventory,
  clock: FakeClock,
  ms = 50,
): Promise<void> {
  clock.advance(ms);
  // The lane of the flush: behind it.
  await inventory.runInSlices("views", nothing());
}

function* nothing(): Steps {
  // Ends at once.
}

export function objectOf(catalog: Catalog, id: string): unknown {
  const entry = catalog.get(id);
  return entry && (JSON.parse(entry.json.toString()) as unknown);
}
