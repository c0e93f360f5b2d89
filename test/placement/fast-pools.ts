import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import {
  startPool,
  type PoolOptions,
  type SimulatedPool,
} from "@xo-server/xapi-sim";
import { createLoggers, loadConfig, startServer } from "@xo-server/xo-server";
import { ApiSession, PASSWORD } from "../api-session.js";
import { StatusPage } from "../status-page.js";
import { fastClock, type FastClock } from "./fast-clock.js";
import { PoolGuard } from "./pool-guard.js";

/** A server and simulated pools in this process, with a common clock. */
export interface FastPools {
  readonly url: string;
  readonly api: ApiSession;
  readonly clock: FastClock;
  readonly pools: readonly FastPool[];
}

export interface FastPool {
  /** Its id at the server. */
  readonly id: string;
  readonly sim: SimulatedPool;
  readonly db: SimulatedPool["database"];
  readonly guard: PoolGuard;
}

export interface FastOptions {
  /** Factor by which time is accelerated. */
  readonly factor: number;
  /** Options of connections to pools, in the configuration. Their times are real. */
  readonly xapi?: string;
  /** Further lines of the configuration. */
  readonly settings?: string;
  /** Changes a pool before the server knows it. */
  readonly prepare?: (sim: SimulatedPool, index: number) => void;
}

/**
 * Starts pools in which every host answers and reports its own statistics, and a
 * server that watches them.
 */
export async function startFast(
  t: Test,
  { factor, xapi = "", settings = "", prepare }: FastOptions,
  ...options: readonly PoolOptions[]
): Promise<FastPools> {
  const clock = fastClock(factor);
  const sims: SimulatedPool[] = [];
  t.teardown(() => Promise.all(sims.map((sim) => sim.stop())));
  for (const [i, one] of options.entries())
    sims.push(
      await startPool({
        clock,
        prepare: ["json"],
        members: 99,
        ...one,
        // One port, as real hosts: a host that joins a pool is asked at the port of its coordinator.
        host: `127.0.${i}.1`,
        port: i === 0 ? 0 : Number(new URL(sims[0]!.url).port),
      }),
    );
  sims.forEach((sim, i) => prepare?.(sim, i));
  const url = await serve(t, { clock, xapi, settings }, sims);
  return {
    url,
    clock,
    api: await ApiSession.open(t, url),
    pools: sims.map((sim) => ({
      sim,
      db: sim.database,
      id: [...sim.database.records("pool")][0]![1]["uuid"] as string,
      guard: new PoolGuard(sim, () => clock.now()),
    })),
  };
}

async function serve(
  t: Test,
  {
    clock,
    xapi,
    settings,
  }: Required<Pick<FastOptions, "xapi" | "settings">> & {
    readonly clock: FastClock;
  },
  sims: readonly SimulatedPool[],
): Promise<string> {
  const lines = sims.map(
    ({ url }, i) => `{ label: P${i}, hosts: ["${url}"], password: password }`,
  );
  const config = [
    `dataDir: ${join(t.testdirName, "data")}`,
    `xapi: { throttleMs: 10, ${xapi} }`,
    `pools: [${lines.join(", ")}]`,
    settings,
  ];
  const home = t.testdir({ "config.yaml": config.join("\n") });
  const server = await startServer({
    ...loadConfig(
      undefined,
      { host: "127.0.0.1", port: 0 },
      { env: {}, cwd: home, home },
    ),
    loggers: createLoggers({ destination: { write: () => undefined } }),
    env: { XO_ADMIN_PASSWORD: PASSWORD },
    clock,
  });
  t.teardown(() => server.stop());
  const page = await StatusPage.open(t, server.url, PASSWORD);
  await page.until((status) =>
    sims.every((_, i) => status.pools[`p${i}`]?.state === "watching"),
  );
  page.close();
  return server.url;
}

/**
 * Repeats the request until the result is as expected.
 * @throws Error after two minutes, with the last result
 */
export async function until<T>(
  request: () => Promise<T> | T,
  isRight: (answer: T) => boolean,
  what = "the answer",
): Promise<T> {
  const end = performance.now() + 120_000;
  for (;;) {
    const answer = await request();
    if (isRight(answer)) return answer;
    if (performance.now() > end)
      throw new Error(
        `${what} stays ${JSON.stringify(answer)?.slice(0, 2000)}`,
      );
    await pause(50);
  }
}
