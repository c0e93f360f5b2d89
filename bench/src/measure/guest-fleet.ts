import { setTimeout } from "node:timers/promises";
import {
  createInventory,
  createQueries,
  machineMemory,
  memoryBudget,
  type Catalog,
  type Inventory,
  type Queries,
  type QueriesOptions,
} from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import { createDerivedPools } from "@xo-server/xapi-sim";
import { ChangingPool } from "./changing-pool.js";
import { createServerCatalog } from "./server-catalog.js";
import { untilWatching } from "./until-watching.js";

/** How many VMs a bench is about; other objects come with them. */
export interface FleetSize {
  readonly pools: number;
  /** Of each pool. */
  readonly vms: number;
}

/** What is read where VMs are shown. */
const GUEST_CLASSES = ["pool", "host", "VM", "VM_metrics", "VM_guest_metrics"];

interface GuestFleet {
  readonly pools: readonly ChangingPool[];
  readonly inventory: Inventory;
  readonly catalog: Catalog;
  readonly queries: Queries;
}

/** Pools in this process, mirrored, with a catalog and its queries; nothing is followed yet. */
export async function openGuestFleet(
  size: FleetSize,
  more: QueriesOptions = {},
): Promise<GuestFleet> {
  const decoder = createParserPool();
  while (!decoder.stats().isUp) await setTimeout(1);
  const pools = createDerivedPools(size).map(
    (objects) => new ChangingPool(objects, decoder, GUEST_CLASSES),
  );
  const inventory = createInventory();
  for (const [i, pool] of pools.entries()) inventory.addPool(`p${i}`, pool);
  await Promise.all(pools.map((_, i) => untilWatching(inventory, `p${i}`)));
  // As the server does.
  const { columnBytes } = memoryBudget(machineMemory());
  const catalog = createServerCatalog(inventory);
  const queries = createQueries(catalog, { columnBytes, ...more });
  return { pools, inventory, catalog, queries };
}
