import { pause } from "@xo-server/kit";
import { checkDataDir } from "./check-data-dir.js";
import { logConfigSummary } from "./log-config-summary.js";
import { startTls } from "../api/tls/start-tls.js";
import { operations } from "../methods/all.js";
import { createDispatcher } from "../operations/dispatcher.js";
import { connectPools } from "../pools/connect-pools.js";
import type { ServerOptions } from "./server-options.js";
import { startAccounts } from "./start-accounts.js";
import { startBackground } from "./start-background.js";
import { startCore, type Core } from "./start-core.js";
import type { Readiness } from "../status/health.js";
import { StoredByOthers } from "../operations/stored-by-others.js";
import { startServices } from "./start-services.js";
import { SharedPaths } from "../transfers/shared-paths.js";
import { startWeb } from "./start-web.js";
import { StopStack } from "../lifecycle/stop-stack.js";

export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Maximum time that a stop waits, after draining, for a database that does not
 * answer, in ms. The leases are then released later, or expire.
 */
const LEAVE_LIMIT_MS = 1_000;

/**
 * With several servers on the database: waits until load balancers have noticed
 * that /health answers 404 and send new clients to other servers, before the
 * connections of this server are closed.
 */
async function drain({ cluster, clock }: Core, drainMs: number): Promise<void> {
  if (!cluster.isShared) return;
  const remainingMs = drainMs - cluster.leavingForMs;
  // Other servers take over background work in the meantime.
  const left = cluster.leave();
  await pause(clock, remainingMs);
  await Promise.race([left, pause(clock, LEAVE_LIMIT_MS)]);
}

/** Starts the server layer by layer; the layers are stopped in reverse. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const stops = new StopStack(options.loggers.named("xo:main"));
  try {
    return { url: await boot(options, stops), stop: () => stops.stop() };
  } catch (error) {
    await stops.stop();
    throw error;
  }
}

/** Begins to read the mirror from disk and to connect, while the web server starts. */
function startPools(
  core: Core,
  options: ServerOptions,
  stops: StopStack,
): Promise<void> {
  const { completeness, loadedPools } = core.views;
  completeness.onChange(() => {
    options.onLoading?.(!completeness.isComplete);
  });
  const releases = [completeness.hold(), loadedPools.hold()];
  const connecting = connectPools(core, options, stops).then(() => {
    core.storedPools.connectAll();
    stops.push("stored pools", () => core.storedPools.stop());
  });
  connecting
    .then(() => core.pools.created())
    .finally(() => {
      for (const release of releases) release();
    })
    // The caller awaits `connecting`, with its error.
    .catch(() => undefined);
  return connecting;
}

/** @returns the URL at which the web server listens */
async function boot(
  serverOptions: ServerOptions,
  stops: StopStack,
): Promise<string> {
  const { config, loggers } = serverOptions;
  const logger = loggers.named("xo:api");
  logConfigSummary(serverOptions);
  await checkDataDir(serverOptions);

  const core = await startCore(serverOptions, stops);
  const options = { ...serverOptions, clock: core.clock };
  const accounts = startAccounts(core.store, options, stops);
  // Awaited before clients can sign in; the handler prevents an unhandled rejection until then.
  accounts.catch(() => undefined);
  const tls = await startTls({
    http: config.http,
    dataDir: config.dataDir,
    clock: core.clock,
    logger: loggers.named("xo:http"),
  });
  stops.push("certificate", () => {
    tls?.stop();
  });
  const started = await startServices({ ...core, tls }, options, stops);
  const { services, catchUp } = started;
  const { objects } = services;
  const { store } = core;
  const dispatcher = createDispatcher(operations, {
    services,
    objects,
    stored:
      store.engine === "postgres"
        ? new StoredByOthers({ store, objects })
        : undefined,
    logger,
    audit: core.audit,
    activity: services.activity,
    catchUp: (pools) => catchUp.with(pools),
    untilConnecting: (pools) => core.pools.untilConnecting(pools),
    tracer: core.telemetry?.tracer,
  });

  if (core.store.engine === "postgres")
    services.oneTimePaths.share(
      new SharedPaths({
        store: core.store,
        sessions: started.storedSessions,
        dispatcher,
      }),
    );

  const connecting = startPools(core, options, stops);
  const readiness: Readiness = {
    isReady: false,
    isDraining: false,
    get isLeaving() {
      return core.cluster.isLeaving;
    },
  };
  await accounts;
  const { url } = await startWeb(
    { core, started, dispatcher, tls, readiness },
    options,
    stops,
  );
  loggers.named("xo:main").info(`Web server listening on ${url}`);
  await connecting;
  core.pools.endStart();
  startBackground(dispatcher, started, logger, stops);
  readiness.isReady = true;
  // Added last, so that it is the first step of a stop.
  stops.push("drain", () => {
    readiness.isDraining = true;
    return drain(core, config.http.drainMs);
  });
  return url;
}
