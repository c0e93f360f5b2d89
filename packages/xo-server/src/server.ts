import { startAlarms } from "./alarms/start-alarms.js";
import { systemClock } from "./clock.js";
import { sayWhatWasLoaded } from "./config/say-what-was-loaded.js";
import { Consoles } from "./consoles/consoles.js";
import { createJsonRpcDoor } from "./doors/json-rpc.js";
import { LimitHits } from "./doors/limit-hits.js";
import { OneTimePaths } from "./doors/one-time-paths.js";
import { startJobs } from "./jobs/start-jobs.js";
import { FlightWatch } from "./tasks/flight-watch.js";
import { Recovery } from "./tasks/recovery.js";
import { startTasks } from "./tasks/start-tasks.js";
import { startTls } from "./doors/tls/start-tls.js";
import { findWebRoot } from "./doors/web-root.js";
import { startWebServer } from "./doors/web-server.js";
import { allMethods } from "./methods/all.js";
import { startMetrics } from "./metrics/start-metrics.js";
import { CatchUp } from "./objects/catch-up.js";
import { OpenMetrics } from "./open-metrics/open-metrics.js";
import { PoolObjects } from "./objects/pool-objects.js";
import { startInventory } from "./objects/start-inventory.js";
import { startObjects } from "./objects/start-objects.js";
import { createAudit } from "./operations/audit.js";
import { createDispatcher } from "./operations/dispatcher.js";
import { startPeople } from "./people/start-people.js";
import { createLivePools } from "./pools/live-pools.js";
import { createPools } from "./pools/pools.js";
import { StoredPools } from "./pools/stored-pools.js";
import { connectPools } from "./pools/connect-pools.js";
import { Plugins } from "./plugins/plugins.js";
import { ResourceSets } from "./resource-sets/resource-sets.js";
import type { ServerOptions } from "./server-options.js";
import { startMonitor } from "./start-monitor.js";
import { startParser } from "./start-parser.js";
import { startStore } from "./start-store.js";
import { toHealth } from "./status/health.js";
import { startStats } from "./stats/start-stats.js";
import { startStatus, startStatusFeed } from "./status/start-status.js";
import { StopStack } from "./stop-stack.js";
import { Transfers } from "./transfers/transfers.js";
import { version } from "./version.js";

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
  const { config, loggers, clock = systemClock } = options;
  sayWhatWasLoaded(options);
  const monitor = startMonitor(options, stops);
  const parser = startParser(options, stops);
  const store = await startStore(options, stops);
  const storedIds = Array.from(store.servers.list(), ({ id }) => id);
  const inventory = await startInventory(monitor, storedIds, options, stops);
  const objects = startObjects(inventory, options, stops);
  const reception = await startPeople(
    store,
    (client) => {
      objects.readers.renew(client);
      objects.notices.renew(client);
      consoles.renew(client);
    },
    options,
    stops,
  );
  const pools = createPools({
    createPool:
      options.createPool ??
      createLivePools({ ...options, ...parser, inventory }),
    forgetPool: (id) => inventory.removePool(id),
    clock,
    logger: loggers.named("xo:main"),
  });
  const clients = () => web.clients;
  const hits = new LimitHits();
  const tls = await startTls({
    ...{ http: config.http, dataDir: config.dataDir, clock },
    logger: loggers.named("xo:http"),
  });
  stops.push("certificate", () => {
    tls?.stop();
  });
  const readParser = () => parser.readFigures();
  const sources = {
    monitor,
    parser,
    store,
    inventory,
    objects,
    pools,
    clients,
    ...{ hits, tls },
  };
  const readStatus = startStatus({ ...options, ...sources, readParser, stops });
  const statusFeed = startStatusFeed(readStatus, options, stops);
  const paths = new OneTimePaths({ clock });
  stops.push("downloads", () => {
    paths.stop();
  });
  const stored = new StoredPools({
    ...{ servers: store.servers, pools },
    logger: loggers.named("xo:main"),
  });
  const poolObjects = new PoolObjects(objects.catalog, pools);
  const apiLogger = loggers.named("xo:api");
  const { tasks, steps, recalled } = await startTasks(store, config.dataDir, {
    ...{ clock, stops },
    logger: apiLogger,
  });
  const measured = { inventory, objects, poolObjects, pools };
  const stats = startStats(parser, measured, options, stops);
  const audit = createAudit(store, apiLogger);
  const consoles = new Consoles({
    ...{ config: config.consoles, inventory, pools, audit, hits, clock },
    findObject: (id) => objects.catalog.get(id),
    sessions: reception.sessions,
  });
  const transfers = new Transfers({
    ...{ paths, audit, tasks, clock },
    settled: () => objects.catalog.settled(),
  });
  const plugins = new Plugins({ store, version, logger: apiLogger });
  plugins.start();
  const sets = new ResourceSets({ ...objects, store, clock });
  const { jobs, schedule } = startJobs({
    ...{ store, tasks, pools, people: reception.people, clock, stops },
    ...{ catalog: objects.catalog, objects: poolObjects, logger: apiLogger },
    config,
    call: (...call) => dispatcher.call(...call),
    isOperation: (name) => operations.some((one) => one.name === name),
  });
  const alarms = startAlarms(
    { store, objects, listPools: () => pools.list() },
    options,
    stops,
  );
  const operations = allMethods({
    alarms,
    ...{ store, clock, reception, readStatus, statusFeed, paths },
    ...{ inventory, objects, poolObjects, pools, stored, stats },
    ...{ jobs, sets, plugins, transfers, tasks },
    call: (...call) => dispatcher.call(...call),
    resume: (...begun) => dispatcher.resume(...begun),
  });
  const { catalog } = objects;
  const catchUp = new CatchUp({ inventory, catalog, clock, logger: apiLogger });
  const dispatcher = createDispatcher(operations, apiLogger, {
    findObject: (id) => catalog.get(id),
    audit,
    catchUp: (pools) => catchUp.with(pools),
  });
  // What is remembered of the pools loads while the doors are being made; a demo takes seconds to start.
  const connecting = connectPools(pools, options, stops).then(() => {
    stored.connectAll();
  });
  connecting.catch(() => undefined);
  const openMetrics = new OpenMetrics({
    ...{ queries: objects.queries, objects: poolObjects, inventory, clock },
    stats: stats.hosts,
    listPools: () => pools.list(),
    poolOf: (id) => objects.catalog.get(id)?.pool,
  });
  let isStarted = false;
  const web = await startWebServer({
    ...{ http: config.http, tls, hits },
    door: createJsonRpcDoor(dispatcher, (ref) => objects.catalog.get(ref)?.id),
    paths,
    readHealth: () => toHealth(isStarted, pools.list(), store.state),
    consoles: { consoles, tickets: reception.tickets },
    readMetrics: startMetrics({ ...sources, consoles, stats }),
    openMetrics: {
      secret: () => plugins.openMetricsSecret(),
      read: () => openMetrics.read(),
    },
    // Of real pools only states and figures are shown to who has not signed in; the demo has nothing to hide.
    permission: options.demo === undefined ? "guest" : "viewer",
    webRoot: findWebRoot(),
    rest: {
      objects,
      operations,
      dispatcher,
      authenticator: reception.signIn,
      tasks,
    },
    onGone: (client) => {
      statusFeed.unsubscribe(client);
      alarms.listeners.delete(client);
      objects.readers.forget(client);
      objects.notices.forget(client);
      reception.sessions.forget(client);
    },
    clock,
    logger: loggers.named("xo:http"),
  });
  stops.push("web server", () => web.stop());
  loggers.named("xo:main").info(`Web server listening on ${web.url}`);
  await connecting;
  const recovery = new Recovery({
    ...{ dispatcher, pools, steps, clock, logger: apiLogger },
    findOperation: (name) => operations.find((one) => one.name === name),
    findObject: (id) => catalog.get(id),
    people: reception.people,
    watch: new FlightWatch({ pools, clock }),
  });
  stops.push("tasks under way", () => tasks.leave());
  void recovery.recover(recalled);
  void schedule();
  void alarms.alarms.start();
  isStarted = true;
  return web.url;
}
