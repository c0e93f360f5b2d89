import {
  createInventory,
  machineMemory,
  memoryBudget,
  type Inventory,
  type MemoryOptions,
} from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { createLoopMonitor, type LoopMonitor } from "@xo-server/perf";
import { toCacheLimits } from "./cache-limits.js";
import { systemClock, type Clock } from "./clock.js";
import type { DemoPool, StartDemoPools } from "./demo.js";
import { createDispatcher } from "./dispatcher.js";
import { toHealth } from "./health.js";
import { toMemoryOptions } from "./inventory-memory.js";
import { createJsonRpcDoor } from "./json-rpc.js";
import { createLivePools } from "./live-pools.js";
import type { LoadedConfig } from "./load-config.js";
import type { Loggers } from "./logger.js";
import { queryMethods } from "./methods/query.js";
import { poolMethods } from "./methods/pool.js";
import { statusMethods } from "./methods/status.js";
import { toCatalogMetrics, toQueryMetrics } from "./metrics/catalog-metrics.js";
import { toExposition } from "./metrics/exposition.js";
import { toInventoryMetrics } from "./metrics/inventory-metrics.js";
import { toProcessMetrics } from "./metrics/process-metrics.js";
import { systemMethods } from "./methods/system.js";
import type { Operation } from "./operation.js";
import { createParser, type Parser } from "./parser.js";
import { toDemoSettings, toPoolSettings } from "./pool-settings.js";
import { createPools, type CreatePool, type Pools } from "./pools.js";
import {
  createServerStatus,
  type ServerStatusOptions,
} from "./server-status.js";
import { toTotals, type Status } from "./status.js";
import { createStatusFeed, type StatusFeed } from "./status-feed.js";
import { startObjects } from "./start-objects.js";
import { StopStack } from "./stop-stack.js";
import { version } from "./version.js";
import { findWebRoot } from "./web-root.js";
import { startWebServer } from "./web-server.js";

export interface ServerOptions extends LoadedConfig {
  readonly loggers: Loggers;
  /** Profiles of simulated pools, in place of those of the config. */
  readonly demo?: readonly string[] | undefined;
  readonly startDemoPools?: StartDemoPools;
  /** Aborted: whatever is still starting gives up. */
  readonly signal?: AbortSignal;
  /** Default: real ones, of xen-api and inventory. */
  readonly createPool?: CreatePool;
  readonly clock?: Clock;
}

export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** Boots the server, step by step; what was started is stopped in reverse. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { loggers } = options;
  const stops = new StopStack(loggers.named("xo:main"));
  try {
    return { url: await boot(options, stops), stop: () => stops.stop() };
  } catch (error) {
    await stops.stop();
    throw error;
  }
}

/** @returns the url at which the web server listens */
async function boot(options: ServerOptions, stops: StopStack): Promise<string> {
  const { config, loggers } = options;
  sayWhatWasLoaded(options);
  const monitor = startMonitor(options, stops);
  const parser = startParser(options, stops);
  const inventory = await startInventory(monitor, options, stops);
  const objects = startObjects(inventory, options, stops);
  const pools = createPools({
    createPool:
      options.createPool ??
      createLivePools({ ...options, ...parser, inventory }),
    clock: options.clock ?? systemClock,
    logger: loggers.named("xo:main"),
  });
  const readStatus = startStatus({
    ...options,
    stops,
    monitor,
    pools,
    readParser: () => parser.readFigures(),
    clients: () => web.clients,
  });
  const statusFeed = startStatusFeed(readStatus, options, stops);
  const operations: readonly Operation[] = [
    ...systemMethods({ version, readStatus, operations: () => operations }),
    ...poolMethods(() => pools.list()),
    ...statusMethods(statusFeed),
    ...queryMethods(objects.queries, objects.readers),
  ];
  let isStarted = false;
  const web = await startWebServer({
    http: config.http,
    door: createJsonRpcDoor(
      createDispatcher(operations, loggers.named("xo:api")),
    ),
    readHealth: () => toHealth(isStarted, pools.list()),
    readMetrics: () =>
      toExposition([
        ...toProcessMetrics({
          version,
          monitor,
          parser: parser.readFigures(),
          clients: web.clients,
        }),
        ...toInventoryMetrics(
          inventory,
          pools.list().map(({ state }) => state),
        ),
        ...toCatalogMetrics(objects.catalog.stats),
        ...toQueryMetrics(objects.queries.stats),
      ]),
    // No login yet: of real pools only states and figures are shown; the demo has nothing to hide.
    permission: options.demo === undefined ? "guest" : "viewer",
    webRoot: findWebRoot(),
    onGone: (client) => {
      statusFeed.unsubscribe(client);
      objects.readers.forget(client);
    },
    clock: options.clock ?? systemClock,
    logger: loggers.named("xo:http"),
  });
  stops.push("web server", () => web.stop());
  loggers.named("xo:main").info(`Web server listening on ${web.url}`);
  await connectPools(pools, options, stops);
  isStarted = true;
  return web.url;
}

function startMonitor(
  { config, loggers }: ServerOptions,
  stops: StopStack,
): LoopMonitor {
  const monitor = createLoopMonitor({
    ...config.perf,
    logger: loggers.named("xo:perf"),
  });
  monitor.start();
  stops.push("perf", () => {
    monitor.stop();
  });
  return monitor;
}

function startParser(
  { config, loggers }: ServerOptions,
  stops: StopStack,
): Parser {
  const parser = createParser(config.parserPool, loggers.named("xo:parser"));
  stops.push("parser pool", () => parser.decoder.close());
  return parser;
}

async function startInventory(
  monitor: LoopMonitor,
  options: ServerOptions,
  stops: StopStack,
): Promise<Inventory> {
  const { config, loggers, clock = systemClock } = options;
  const memory = await openMemory(options);
  const inventory = createInventory({
    ...config.inventory,
    ...toCacheLimits(config.inventory, memoryBudget(machineMemory())),
    ...(memory === undefined ? {} : { memory }),
    clock,
    logger: loggers.named("xo:inventory"),
    running: (label, section) => {
      monitor.running(label, section);
    },
  });
  stops.push("inventory", () => inventory.stop());
  return inventory;
}

/** Pools of a demo are others the next time; those of a test bring their own. */
async function openMemory({
  config,
  demo,
  createPool,
  loggers,
}: ServerOptions): Promise<MemoryOptions | undefined> {
  return demo === undefined && createPool === undefined
    ? toMemoryOptions(config, loggers.named("xo:inventory"))
    : undefined;
}

function startStatus({
  demo,
  stops,
  pools,
  clock = systemClock,
  ...rest
}: Omit<ServerStatusOptions, "version" | "demo" | "clock"> &
  Pick<ServerOptions, "demo" | "clock"> & {
    readonly stops: StopStack;
    readonly pools: Pools;
  }): () => Status {
  const server = createServerStatus({
    ...rest,
    version,
    demo: demo !== undefined,
    clock,
  });
  stops.push("server status", () => {
    server.stop();
  });
  return () => {
    const all = pools.list();
    return {
      server: server.read(),
      pools: Object.fromEntries(all.map((pool) => [pool.id, pool])),
      totals: toTotals(all),
    };
  };
}

function startStatusFeed(
  read: () => Status,
  { clock = systemClock }: ServerOptions,
  stops: StopStack,
): StatusFeed {
  const feed = createStatusFeed({ read, clock });
  stops.push("status feed", () => {
    feed.stop();
  });
  return feed;
}

/** Only starts it: a pool that cannot be reached does not keep the server from being up. */
async function connectPools(
  pools: Pools,
  options: ServerOptions,
  stops: StopStack,
): Promise<void> {
  const settings =
    options.demo === undefined
      ? toPoolSettings(options.config.pools)
      : toDemoSettings(await startDemo(options, stops));
  stops.push("pools", () => pools.stop());
  pools.connect(settings);
}

function sayWhatWasLoaded({
  config,
  path,
  warnings,
  loggers,
  demo,
}: ServerOptions): void {
  const logger = loggers.named("xo:main");
  logger.info(path === undefined ? "No config file" : `Config from ${path}`);
  for (const warning of warnings) logger.warn(warning);
  if (demo !== undefined) {
    if (config.pools.length > 0)
      logger.info(
        `Demo: the ${config.pools.length} pools of the config are not connected`,
      );
  } else if (!config.pools.some((pool) => pool.enabled)) {
    logger.info(
      "No pools yet: name some under `pools` in config.yaml (`xo-server example-config` prints one), or try --demo",
    );
  }
}

/** @throws XoError UNSUPPORTED, ABORTED */
async function startDemo(
  { demo = [], startDemoPools, signal, loggers }: ServerOptions,
  stops: StopStack,
): Promise<readonly DemoPool[]> {
  const unavailable = (reason: string, cause?: unknown) =>
    new XoError("UNSUPPORTED", { what: "the demo", reason }, cause);
  if (startDemoPools === undefined)
    throw unavailable("there is no simulator here");
  loggers.named("xo:main").info(`Starting simulated pools ${demo.join(", ")}`);
  const running = startDemoPools(demo);
  stops.push("demo", async () => void (await running.stop()));
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => {
      reject(new XoError("ABORTED", { what: "the start of the demo" }));
    });
  });
  try {
    return await Promise.race([running.ready, aborted]);
  } catch (error) {
    throw error instanceof XoError
      ? error
      : unavailable((error as Error).message, error);
  }
}
