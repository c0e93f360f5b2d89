import { logConfigSummary } from "./log-config-summary.js";
import { startTls } from "../api/tls/start-tls.js";
import { allMethods } from "../methods/all.js";
import { createDispatcher, type Dispatcher } from "../operations/dispatcher.js";
import type { Operation } from "../operations/operation.js";
import { startAuth } from "../auth/start-auth.js";
import { connectPools } from "../pools/connect-pools.js";
import type { ServerOptions } from "./server-options.js";
import { startApi } from "./start-api.js";
import { startGround } from "./start-ground.js";
import { startWork } from "./start-work.js";
import { startPerformance } from "../status/performance.js";
import { startStatus, startStatusFeed } from "../status/start-status.js";
import { StopStack } from "./stop-stack.js";
import { XapiTaskWatch } from "../tasks/xapi-task-watch.js";
import { Recovery } from "../tasks/recovery.js";

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
  const logger = loggers.named("xo:api");
  logConfigSummary(options);

  const ground = await startGround(options, stops);
  const { clock, store, objects, pools, parser, audit } = ground;
  const { catalog, readers, notices } = objects;
  const reception = await startAuth(
    store,
    (client) => {
      readers.renew(client);
      notices.renew(client);
      work.consoles.renew(client);
    },
    options,
    stops,
  );
  const tls = await startTls({
    http: config.http,
    dataDir: config.dataDir,
    clock,
    logger: loggers.named("xo:http"),
  });
  stops.push("certificate", () => {
    tls?.stop();
  });
  const clients = () => web.clients;
  const readStatus = startStatus({
    ...options,
    ...ground,
    clients,
    stops,
    readParser: () => parser.readFigures(),
  });
  const performance = startPerformance({ ...ground, readStatus, stops });
  const statusFeed = startStatusFeed(readStatus, options, stops);

  // Operations may call operations: jobs, bulks, tasks that go on.
  const call: Dispatcher["call"] = (...given) => dispatcher.call(...given);
  const resume: Dispatcher["resume"] = (...begun) =>
    dispatcher.resume(...begun);
  const find = (name: string): Operation | undefined =>
    operations.find((one) => one.name === name);
  const work = await startWork(
    {
      ...ground,
      reception,
      call,
      isOperation: (name) => find(name) !== undefined,
    },
    options,
    stops,
  );
  const operations = allMethods({
    ...ground,
    ...work,
    reception,
    readStatus,
    statusFeed,
    performance,
    call,
    resume,
  });
  const findObject = (id: string) => catalog.get(id);
  const dispatcher = createDispatcher(operations, logger, {
    findObject,
    audit,
    witness: ground.activity.activity,
    catchUp: (pools) => ground.catchUp.with(pools),
  });

  // What is remembered of the pools loads while the doors are being made; a demo takes seconds to start.
  const connecting = connectPools(ground, options, stops).then(() => {
    ground.stored.connectAll();
  });
  connecting.catch(() => undefined);
  let isStarted = false;
  const web = await startApi(
    {
      ...ground,
      ...work,
      reception,
      statusFeed,
      operations,
      dispatcher,
      tls,
      clients,
      isStarted: () => isStarted,
    },
    options,
    stops,
  );
  loggers.named("xo:main").info(`Web server listening on ${web.url}`);
  await connecting;

  const recovery = new Recovery({
    dispatcher,
    pools,
    steps: work.steps,
    clock,
    logger,
    findOperation: find,
    findObject,
    people: reception.users,
    watch: new XapiTaskWatch({ pools, clock }),
  });
  stops.push("tasks under way", () => work.tasks.suspendAll());
  void recovery.recover(work.interrupted);
  void work.schedule();
  work.balancer.start();
  void work.alarms.alarms.start();
  void ground.activity.activity.start();
  isStarted = true;
  return web.url;
}
