import type { Config } from "../config/config.js";
import { toServerAddress } from "../cluster/server-address.js";
import { limitConnections, readMaxOpenFiles } from "../limits/open-files.js";
import type { Logger } from "../log/logger.js";
import { createJsonRpcHandler } from "../api/json-rpc/json-rpc.js";
import type { Tls } from "../api/tls/start-tls.js";
import { findWebRoot } from "../api/web-root.js";
import { startWebServer, type WebServer } from "../api/web-server.js";
import { startMetrics } from "../metrics/start-metrics.js";
import { OpenMetrics } from "../open-metrics/open-metrics.js";
import type { Client } from "../auth/sessions/client.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import { toHealth, type Readiness } from "../status/health.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";
import type { StartedServices } from "./start-services.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

interface WebParts {
  readonly core: Core;
  readonly started: StartedServices;
  readonly dispatcher: Dispatcher;
  readonly tls: Tls | undefined;
  readonly readiness: Readonly<Readiness>;
}

/** Starts the page and the API. Resolves when the server listens. */
export async function startWeb(
  parts: WebParts,
  { config, loggers, demo }: ServerOptions,
  stops: StopStack,
): Promise<WebServer> {
  const { core, started, dispatcher, tls, readiness } = parts;
  const { clock, store, inventory, views, objects, pools, limitHits } = core;
  const { services, consoles, seals } = started;
  const { catalog, queries } = views;
  const openMetrics = new OpenMetrics({
    queries,
    objects,
    inventory,
    clock,
    stats: services.hostStats,
    listPools: () => pools.listSummaries(),
    poolOf: (id) => objects.connectionOf(id),
    accounts: store,
    countPendingTasks: () => services.tasks.countPending(),
  });
  const web = await startWebServer({
    http: withinOpenFiles(config.http, loggers.named("xo:http")),
    tls,
    hits: limitHits,
    clock,
    logger: loggers.named("xo:http"),
    jsonRpc: createJsonRpcHandler(dispatcher, {
      idOf: (ref) => catalog.get(ref)?.id,
      onCall: (client, method) => {
        views.notices.onCall(client, method);
      },
    }),
    paths: services.oneTimePaths,
    ...partsForServers(core),
    consoles: { consoles, tickets: services.tickets },
    readHealth: () =>
      toHealth(readiness, {
        pools: pools.listSummaries(),
        poolsOfStart: pools.listOfStart(),
        store: store.state,
        isIsolated: core.isolation?.watch.isIsolated ?? false,
      }),
    readMetrics: startMetrics({
      ...core,
      objects: views,
      hits: limitHits,
      tls,
      consoles,
      stats: started.stats,
      activity: services.activity,
      sessions: services.sessions,
      notices: views.notices,
    }),
    openMetrics: {
      secret: () => services.plugins.openMetricsSecret(),
      read: () => openMetrics.read(),
    },
    // Anonymous clients cannot read real pools; a demo contains no secrets.
    permission: demo === undefined ? "guest" : "viewer",
    webRoot: findWebRoot(),
    rest: {
      objects: views,
      operations: dispatcher.operations,
      dispatcher,
      tasks: services.tasks,
      authenticator: services.signIn,
      seals,
    },
    connected: core.clients,
    onClose: (client) => {
      forgetClient(client, parts);
    },
  });
  stops.push("web server", () => web.stop());
  if (core.cluster.isShared) await announce(core, config, { web, tls });
  return web;
}

/** What the other servers of the database request of this one. */
function partsForServers(core: Core) {
  const { copies, relays, tunnels, probes, isolation } = core;
  return {
    ...(copies && { copies: copies.server }),
    ...(relays && { events: relays.server }),
    ...(tunnels && { tunnels: tunnels.server }),
    ...(probes.server && { probes: probes.server }),
    ...(isolation && { isolation: isolation.server }),
  };
}

/** Other servers learn the address of this one from its heartbeats. */
async function announce(
  { cluster, store }: Core,
  config: Config,
  { web, tls }: { web: WebServer; tls: Tls | undefined },
): Promise<void> {
  // The database is unavailable: the start does not depend on copies.
  const seenFrom = await store.clusterServers
    .readClientAddress()
    .catch(() => undefined);
  const { port } = web;
  const address = toServerAddress({ config, port, seenFrom });
  cluster.announce(() => ({ address, fingerprint: tls?.fingerprint }));
}

/** Ends the subscriptions of a client that has disconnected. */
function forgetClient(client: Client, { core, started }: WebParts): void {
  const { services } = started;
  services.statusFeed.unsubscribe(client);
  services.alarmListeners.delete(client);
  services.activityListeners.delete(client);
  services.taskSubscriptions.delete(client);
  services.clientQueries.forget(client);
  core.views.notices.forget(client);
  services.sessions.remove(client);
}

/** Fewer connections than configured if the process may not open as many files. */
function withinOpenFiles(http: Config["http"], logger: Logger): Config["http"] {
  const maxOpenFiles = readMaxOpenFiles();
  const maxConnections = limitConnections(http.maxConnections, maxOpenFiles);
  if (maxConnections < http.maxConnections)
    logger.warn(
      `At most ${maxConnections} connections instead of ${http.maxConnections} (http.maxConnections): the process may open ${maxOpenFiles} files; raise this limit (ulimit -n, LimitNOFILE)`,
    );
  return { ...http, maxConnections };
}
