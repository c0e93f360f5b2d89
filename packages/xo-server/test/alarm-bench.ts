import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createQueries, metricNames } from "@xo-server/inventory";
import { openStore } from "@xo-server/store";
import type { Test } from "tap";
import { AlarmListeners } from "../src/alarms/alarm-listeners.js";
import { Alarms } from "../src/alarms/alarms.js";
import { loadConfig } from "../src/config/load-config.js";
import { alarmOperations } from "../src/methods/monitoring/alarm.js";
import { alarmRuleOperations } from "../src/methods/monitoring/alarm-rule.js";
import type { Privilege } from "../src/rights/privilege.js";
import type { AlarmServers } from "../src/alarms/server-watcher.js";
import type { ReadServerMetric } from "../src/alarms/server-metrics.js";
import type { PoolState } from "../src/status/status.js";
import { FakeClock } from "./fake-clock.js";
import { MiniCatalog } from "./mini-catalog.js";
import { as, startRestServer } from "./rest-server.js";
import { cheapCosts } from "./cheap-costs.js";

export interface BenchOptions {
  readonly yaml?: string;
  /** The folder of a bench before: a restart. */
  readonly folder?: string;
  readonly clock?: FakeClock;
  readonly objects?: MiniCatalog;
  /** States of pools at the start. Default: the pool `p` is connected. */
  readonly states?: Map<string, PoolState>;
  readonly readServerMetric?: ReadServerMetric;
  /** Default: there is only one server. */
  readonly servers?: AlarmServers;
  readonly users?: Readonly<Record<string, readonly Privilege[]>>;
}

export interface PublicAlarm {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly value?: number;
  readonly raisedAt: number;
  readonly endedAt?: number;
}

/** Alarms over objects of a test, read over the REST API; the test owns the clock. */
export async function startAlarmBench(t: Test, options: BenchOptions = {}) {
  const clock = options.clock ?? new FakeClock();
  const parts = await createAlarms(t, options, clock);
  const { objects, store, states, lines, folder, alarms } = parts;
  const { request } = await startAlarmRest(t, options, parts);
  await alarms.start();
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await alarms.stop();
    parts.queries.stop();
    await store.close();
  };
  t.teardown(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  const now = parts.queries.metrics("VM");
  /** What is under way in memory and in the store, whose changes are in one lane, is done by then. */
  const settle = async () => {
    for (let round = 0; round < 6; round++) {
      for (let turn = 0; turn < 5; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      await store.alarmNotices.prune(1_000_000);
    }
  };
  return {
    clock,
    objects,
    store,
    states,
    lines,
    folder,
    stop,
    request,
    alarms,
    /** As a host measures it. */
    measure(id: string, metric: (typeof metricNames)[number], value: number) {
      now.set(id, metricNames.indexOf(metric), value);
      now.commit();
    },
    now,
    async create(rule: object): Promise<string> {
      const now = { forSeconds: 0, on: withoutHysteresis(rule) };
      const body = { name: "rule", ...now, ...rule, on: now.on };
      const created = await request("POST", "/alarm-rules", body);
      t.equal(created.status, 201, JSON.stringify(created.value));
      return (created.value as { id: string }).id;
    },
    async list(who = "admin"): Promise<PublicAlarm[]> {
      return (await request("GET", "/raised-alarms?fields=*", undefined, who))
        .value as never;
    },
    /** Time passes, and what that brings is done. */
    async pass(ms: number): Promise<void> {
      await settle();
      clock.pass(ms);
      await settle();
    },
    settle,
  };
}

type AlarmParts = Awaited<ReturnType<typeof createAlarms>>;

/** The alarms, with what they read and write. */
async function createAlarms(t: Test, options: BenchOptions, clock: FakeClock) {
  const objects =
    options.objects ?? new MiniCatalog("VM", "SR", "message", "task", "pool");
  // tap's folder is emptied when the test ends.
  const folder =
    options.folder ?? (await mkdtemp(join(tmpdir(), "xo-alarms-")));
  const { catalog } = objects;
  const queries = createQueries(catalog, { clock });
  const store = await openStore({
    location: join(folder, "store.db"),
    key: { file: join(folder, "store.key") },
    ...cheapCosts,
    clock,
  });
  const states =
    options.states ?? new Map<string, PoolState>([["p", "watching"]]);
  const lines: string[] = [];
  const place = { env: {}, cwd: t.testdirName, home: t.testdirName };
  const { config } = loadConfig(undefined, {}, place);
  const alarms = new Alarms({
    store,
    queries,
    catalog,
    clock,
    mail: { ...config.mail, ...parseMail(options.yaml) },
    readServerMetric: options.readServerMetric ?? (async () => NaN),
    servers: options.servers,
    pageUrl: () => "https://xo.example/",
    listPools: () =>
      Array.from(
        states,
        ([id, state]) =>
          ({ id, label: `pool ${id}`, state, error: null }) as never,
      ),
    logger: {
      warn: (message, about) =>
        lines.push(`${message} ${JSON.stringify(about)}`),
    },
  });
  return {
    alarms,
    catalog,
    clock,
    folder,
    lines,
    objects,
    queries,
    states,
    store,
  };
}

/** The REST API of the alarms. @returns sends a request to it */
async function startAlarmRest(
  t: Test,
  { users }: BenchOptions,
  { alarms, catalog, clock, store }: AlarmParts,
) {
  const listeners = new AlarmListeners(clock);
  alarms.onChange(() => {
    listeners.notify();
  });
  const rest = await startRestServer(t, {
    operations: [...alarmRuleOperations, ...alarmOperations],
    services: { store, alarms, catalog, alarmListeners: listeners },
    clock,
    permission: "none",
    ...(users === undefined ? {} : { users }),
  });
  const request = async (
    method: string,
    path: string,
    body?: object,
    who = "admin",
  ) => {
    const { headers } = as(who);
    const answer = await rest.get(path, {
      method,
      headers: { ...headers, "content-type": "application/json" } as never,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      value: (text === "" ? undefined : JSON.parse(text)) as unknown,
    };
  };
  return { request };
}

/** The condition holds; tap's limit ends the waiting. */
export async function until(
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await holds()))
    await new Promise((resolve) => setTimeout(resolve, 2));
}

/** `key: value` lines. */
function parseMail(yaml = ""): object {
  return Object.fromEntries(
    yaml
      .split("\n")
      .filter((line) => line.includes(":"))
      .map((line) => line.split(": ") as [string, string])
      .map(([key, value]) => [
        key,
        /^\d+$/.test(value) ? Number(value) : value,
      ]),
  );
}

/** The condition of a rule; cleared at the threshold unless it says otherwise. */
function withoutHysteresis(rule: object): unknown {
  const { on } = rule as { on?: { kind?: string; threshold?: number } };
  return on?.kind === "statistic" ? { clearsAt: on.threshold, ...on } : on;
}
