import { setTimeout } from "node:timers/promises";
import { createInventory, type ChangeBatch } from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import { percentile } from "../harness/figures.js";
import { processCpuMs } from "../harness/process-cpu.js";
import type { EventsJob } from "./events-job.js";
import { readJob, reportFigures } from "./job.js";
import { startLoopProbe } from "./loop-probe.js";
import { untilWatching } from "./until-watching.js";

/** Until the first responses, with the changes during the load, are processed. */
const CALM_MS = 3000;

/** What the simulator's churn writes into other_config of each VM that it changes: Unix time in ms. */
const CHANGED_AT = "sim:changed_at";

const job = await readJob<EventsJob>();
const { url, user, password, name } = job.pool;
const inventory = createInventory();
const xapi = createXapi({
  hosts: url,
  user,
  password,
  decoder: createParserPool(),
});
let changes = 0;
let latencies: number[] = [];
inventory.addPool(name, xapi, { throttleMs: job.throttleMs });
await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
inventory.subscribe(note);
await setTimeout(CALM_MS);
reportFigures(await watch());

function note(batch: ChangeBatch): void {
  const now = performance.timeOrigin + performance.now();
  changes += batch.count;
  for (let i = 0; i < batch.count; i++) {
    if (batch.className(i) !== "VM" || batch.kind(i) !== "update") continue;
    const config = inventory.get(name, "VM", batch.ref(i))?.["other_config"];
    const changedAt = (config as Record<string, string> | undefined)?.[
      CHANGED_AT
    ];
    if (changedAt !== undefined) latencies.push(now - Number(changedAt));
  }
}

async function watch(): Promise<Record<string, number>> {
  changes = 0;
  latencies = [];
  const before = { ...xapi.counters };
  const cpuBefore = process.cpuUsage();
  const simulatorBefore = processCpuMs(job.simulatorPid);
  const start = performance.now();
  const probe = startLoopProbe();
  await setTimeout(job.durationMs);
  const seconds = (performance.now() - start) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const blocks = await probe.stop();
  const { counters } = xapi;
  return {
    ms: percentile(latencies, 0.5),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: Math.max(...latencies),
    changesPerSecond: changes / seconds,
    answersPerSecond: (counters.eventAnswers - before.eventAnswers) / seconds,
    bytesPerSecond: (counters.bytesReceived - before.bytesReceived) / seconds,
    clientCpuPercent: (cpu.user + cpu.system) / 10_000 / seconds,
    simulatorCpuPercent:
      (processCpuMs(job.simulatorPid) - simulatorBefore) / 10 / seconds,
    ...blocks,
  };
}
