import {
  createCatalog,
  machineMemory,
  memoryBudget,
  type Catalog,
  type Inventory,
} from "@xo-server/inventory";

/** A catalog with the bounds that the server gives it on this machine. */
export function createServerCatalog(inventory: Inventory): Catalog {
  const { viewCacheBytes, feedBytes } = memoryBudget(machineMemory());
  return createCatalog(inventory, { viewCacheBytes, feedBytes });
}
