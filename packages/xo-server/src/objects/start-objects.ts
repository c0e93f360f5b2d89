import { wallClock } from "@xo-server/kit";
import {
  createCatalog,
  createQueries,
  machineMemory,
  memoryBudget,
  type Catalog,
  type Inventory,
  type Queries,
} from "@xo-server/inventory";
import { toCacheLimits } from "../config/cache-limits.js";
import { Completeness } from "./completeness.js";
import { LoadedPools } from "./loaded-pools.js";
import { ClientQueries } from "./client-queries.js";
import { ObjectListing } from "./object-listing.js";
import { ObjectNotices } from "./object-notices.js";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/**
 * Delay between the loading of the pools and the filling of the columns of
 * searches, in ms: lists that have waited for the pools are answered first.
 */
const PREPARE_DELAY_MS = 2_000;

/** The pools' objects for the API, and the caller's rights. */
export interface Objects {
  readonly catalog: Catalog;
  readonly queries: Queries;
  readonly completeness: Completeness;
  readonly loadedPools: LoadedPools;
  readonly clientQueries: ClientQueries;
  readonly listing: ObjectListing;
  readonly notices: ObjectNotices;
}

/** Builds the catalog and the queries over the mirror. Nothing is read from pools. */
export function startObjects(
  inventory: Inventory,
  {
    config,
    loggers,
    clock = wallClock,
  }: Pick<StartOptions, "config" | "loggers" | "clock">,
  stops: StopStack,
): Objects {
  const logger = loggers.named("xo:objects");
  const limits = toCacheLimits(config.inventory, memoryBudget(machineMemory()));
  const catalog = createCatalog(inventory, { ...limits, clock, logger });
  stops.push("catalog", () => {
    catalog.stop();
  });
  const completeness = new Completeness(inventory, catalog);
  stops.push("completeness", () => {
    completeness.stop();
  });
  const loadedPools = new LoadedPools(inventory, catalog);
  stops.push("loaded pools", () => {
    loadedPools.stop();
  });
  const queries = createQueries(catalog, {
    ...limits,
    clock,
    logger,
    preparesSearch: () => completeness.isComplete,
  });
  let timer: unknown;
  completeness.onChange(() => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(() => {
      queries.prepareSearches();
    }, PREPARE_DELAY_MS);
  });
  stops.push("queries", () => {
    clock.clearTimeout(timer);
    queries.stop();
  });
  const notices = new ObjectNotices({ catalog, inventory, clock, logger });
  stops.push("notifications", () => {
    notices.stop();
  });
  const listing = new ObjectListing(catalog, inventory, queries, loadedPools);
  const clientQueries = new ClientQueries({
    queries,
    completeness,
    clock,
  });
  return {
    catalog,
    queries,
    completeness,
    loadedPools,
    clientQueries,
    listing,
    notices,
  };
}
