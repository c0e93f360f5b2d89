import { createJsonRpcHandler } from "../api/json-rpc/json-rpc.js";
import type { Tls } from "../api/tls/start-tls.js";
import { findWebRoot } from "../api/web-root.js";
import { startWebServer, type WebServer } from "../api/web-server.js";
import { startMetrics } from "../metrics/start-metrics.js";
import { OpenMetrics } from "../open-metrics/open-metrics.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { Operation } from "../operations/operation.js";
import type { AuthService } from "../auth/start-auth.js";
import type { ServerOptions } from "./server-options.js";
import type { Ground } from "./start-ground.js";
import type { Work } from "./start-work.js";
import { toHealth } from "../status/health.js";
import type { StatusFeed } from "../status/status-feed.js";
import type { StopStack } from "./stop-stack.js";

export interface ApiParts extends Ground, Work {
  readonly reception: AuthService;
  readonly statusFeed: StatusFeed;
  readonly operations: readonly Operation[];
  readonly dispatcher: Dispatcher;
  readonly tls: Tls | undefined;
  readonly clients: () => number;
  readonly isStarted: () => boolean;
}

/** The page and the API. It listens when this resolves. */
export async function startApi(
  parts: ApiParts,
  { config, loggers, demo }: ServerOptions,
  stops: StopStack,
): Promise<WebServer> {
  const { clock, store, inventory, objects, poolObjects, pools } = parts;
  const { reception, operations, dispatcher, tasks, stats, hits } = parts;
  const { catalog } = objects;
  const openMetrics = new OpenMetrics({
    queries: objects.queries,
    objects: poolObjects,
    inventory,
    clock,
    stats: stats.hosts,
    listPools: () => pools.list(),
    poolOf: (id) => catalog.get(id)?.pool,
  });
  const web = await startWebServer({
    http: config.http,
    tls: parts.tls,
    hits,
    clock,
    logger: loggers.named("xo:http"),
    jsonRpc: createJsonRpcHandler(dispatcher, (ref) => catalog.get(ref)?.id),
    paths: parts.paths,
    consoles: { consoles: parts.consoles, tickets: reception.tickets },
    readHealth: () => toHealth(parts.isStarted(), pools.list(), store.state),
    readMetrics: startMetrics(parts),
    openMetrics: {
      secret: () => parts.plugins.openMetricsSecret(),
      read: () => openMetrics.read(),
    },
    // Of real pools only states and figures are shown to who has not signed in; the demo has nothing to hide.
    permission: demo === undefined ? "guest" : "viewer",
    webRoot: findWebRoot(),
    rest: {
      objects,
      operations,
      dispatcher,
      tasks,
      authenticator: reception.signIn,
    },
    onClose: (client) => {
      parts.statusFeed.unsubscribe(client);
      parts.alarms.listeners.delete(client);
      parts.activity.listeners.delete(client);
      parts.taskSubscriptions.delete(client);
      objects.readers.forget(client);
      objects.notices.forget(client);
      reception.sessions.remove(client);
    },
  });
  stops.push("web server", () => web.stop());
  return web;
}
