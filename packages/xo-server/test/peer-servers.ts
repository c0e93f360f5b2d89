import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openStore, type ClusterServer } from "@xo-server/store";
import type { Test } from "tap";
import {
  startWebServer,
  type WebServerOptions,
} from "../src/api/web-server.js";
import { loadConfig } from "../src/config/load-config.js";
import {
  createLoggers,
  type Logger,
  type LogLevel,
} from "../src/log/logger.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";
import { createDatabase } from "./new-database.js";

export interface PeersOptions {
  /** Key of another database. */
  readonly key?: string | undefined;
  /** Of the log. */
  readonly level?: LogLevel;
}

/** The servers of one database: its key, its clock, and their log. */
export async function createPeers(
  t: Test,
  { key, level = "info" }: PeersOptions = {},
) {
  const clock = new FakeClock();
  const { location, keyFile } = await createDatabase(t);
  const store = await openStore({
    location: key === undefined ? location : join(t.testdir(), "other.db"),
    key: key === undefined ? { file: keyFile } : { text: key },
    clock,
    ...cheapCosts,
  });
  t.teardown(() => store.close());
  const lines: string[] = [];
  const loggers = createLoggers({
    level,
    destination: { write: (line) => lines.push(line) },
  });
  const logger = loggers.named("xo:cluster");
  return { store, clock, logger, lines, servers: [] as ClusterServer[] };
}

export type Peers = Awaited<ReturnType<typeof createPeers>>;

export function addServer(
  { servers }: Pick<Peers, "servers">,
  address: string,
  more: Partial<ClusterServer> = {},
) {
  const name = `xo${servers.length + 2}`;
  const server = {
    name,
    instance: `1 ${name}`,
    origin: name,
    url: "",
    version: "1",
    startedAt: 1,
    seenAt: 1,
    silentMs: 0,
    fingerprint: undefined,
    leavingAt: undefined,
    ...more,
    address,
  };
  servers.push(server);
  return server;
}

/** A program at the address of a server, which is not one. */
export async function addOther(
  t: Test,
  peers: Pick<Peers, "servers">,
  listener: RequestListener,
) {
  const other = createServer(listener).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.closeAllConnections());
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  return addServer(peers, `127.0.0.1:${port}`);
}

/** A web server with the routes for other servers, without what no test of them asks for. */
export async function startPeerServer(
  t: Test,
  { clock, logger }: { clock: FakeClock; logger: Logger },
  routes: Pick<
    Partial<WebServerOptions>,
    "copies" | "events" | "isolation" | "probes" | "tls" | "tunnels"
  >,
) {
  const home = t.testdir();
  const overrides = { host: "127.0.0.1", port: 0 };
  const { config } = loadConfig(undefined, overrides, {
    env: {},
    cwd: home,
    home,
  });
  const parts: Partial<WebServerOptions> = {
    http: config.http,
    ...routes,
    readHealth: () => ({}) as never,
    readMetrics: () => "",
    permission: "guest",
    webRoot: undefined,
    rest: { operations: [] } as never,
    clock,
    logger,
  };
  const web = await startWebServer(parts as WebServerOptions);
  t.teardown(() => web.stop());
  return web;
}

export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}
