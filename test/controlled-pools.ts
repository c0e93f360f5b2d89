import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { Test } from "tap";
import {
  startPool,
  type PoolOptions,
  type SimulatedPool,
} from "@xo-server/xapi-sim";
import { createLoggers, loadConfig, startServer } from "@xo-server/xo-server";
import { ApiSession, PASSWORD } from "./api-session.js";
import { StatusPage } from "./status-page.js";

/** Calls that the server sends to pools regularly, whatever the operation. */
const USUAL =
  /^(event\.|session\.|task\.|system\.|.*\.get_all(_records)?$|pool\.get_)/;

/** A server and pools in this process, so that tests can read the databases of the pools. */
export interface ControlledPools {
  readonly url: string;
  readonly api: ApiSession;
  readonly pools: readonly SimulatedPool[];
  /** Calls that pools have received since this was last read, except for the regular ones. */
  readonly calls: () => readonly string[];
  /** Current record of a VM or another object in the pool, by its UUID. */
  readonly record: (
    className: string,
    uuid: string,
    pool?: number,
  ) => Readonly<Record<string, unknown>>;
}

/** All durations are a twentieth of the real ones. */
const PACE = 0.05;

export async function startControlled(
  t: Test,
  ...options: readonly PoolOptions[]
): Promise<ControlledPools> {
  const pools = await Promise.all(
    options.map((one) => startPool({ pace: PACE, prepare: ["json"], ...one })),
  );
  t.teardown(() => Promise.all(pools.map((pool) => pool.stop())));
  const received: string[] = [];
  const urls = await Promise.all(
    pools.map(({ url }) => listenIn(t, url, received)),
  );
  const lines = urls.map(
    (url, i) => `{ label: P${i}, hosts: ["${url}"], password: password }`,
  );
  const config = [
    `dataDir: ${join(t.testdirName, "data")}`,
    "xapi: { throttleMs: 10 }",
    // On a busy machine workers of a lower priority hardly run.
    "backups: { workerNiceness: 0 }",
    `pools: [${lines.join(", ")}]`,
  ];
  const home = t.testdir({ "config.yaml": config.join("\n") });
  const nowhere = { env: {}, cwd: home, home };
  const server = await startServer({
    ...loadConfig(undefined, { host: "127.0.0.1", port: 0 }, nowhere),
    loggers: createLoggers({ destination: { write: () => undefined } }),
    env: { XO_ADMIN_PASSWORD: PASSWORD },
  });
  t.teardown(() => server.stop());
  const page = await StatusPage.open(t, server.url, PASSWORD);
  await page.until((status) =>
    pools.every((_, i) => status.pools[`p${i}`]?.state === "watching"),
  );
  return {
    url: server.url,
    api: await ApiSession.open(t, server.url),
    pools,
    calls: () => received.splice(0).filter((name) => !USUAL.test(name)),
    record: (className, uuid, pool = 0) => {
      const { database } = pools[pool]!;
      return database.get(className, database.byUuid(className, uuid)!);
    },
  };
}

/** Passes all calls on to the pool, and records their names. */
async function listenIn(
  t: Test,
  url: string,
  received: string[],
): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const pool = connect(Number(port), hostname);
    client.on("data", (chunk: Buffer) => {
      for (const [, name] of chunk
        .toString("latin1")
        .matchAll(/"method":"([\w.]+)"/g))
        received.push(name!.replace("Async.", ""));
    });
    client.pipe(pool).pipe(client);
    client.on("error", () => pool.destroy());
    pool.on("error", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
