import { setTimeout } from "node:timers/promises";
import { RECORD_STRIDE, RecordField, type RecordBatch } from "@xo-server/model";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import { percentile } from "../harness/figures.js";
import { processCpuMs } from "../harness/process-cpu.js";
import { changedAt } from "./changed-at.js";
import type { EventsJob } from "./events-job.js";
import { readJob, reportFigures } from "./job.js";
import { startLoopProbe } from "./loop-probe.js";

/** Until the first answers, which tell of what changed during the load, are through. */
const CALM_MS = 2000;

const job = await readJob<EventsJob>();
const { url, user, password } = job.pool;
const decoder = createParserPool();
const xapi = createXapi({
  hosts: url,
  user,
  password,
  decoder,
  throttleMs: job.throttleMs,
});
let changes = 0;
let latencies: number[] = [];
await xapi.connect();
const token = await xapi.injectToken();
void follow(token);
await setTimeout(CALM_MS);
reportFigures(await watch());

async function follow(from: string): Promise<void> {
  for await (const event of xapi.events({ from })) {
    if (event.kind === "lost") throw new Error(`lost: ${event.reason}`);
    for (const batch of event.batches) note(batch);
  }
}

function note({ buffer, table, count }: RecordBatch): void {
  const now = performance.timeOrigin + performance.now();
  changes += count;
  for (let row = 0; row < count; row++) {
    const at = row * RECORD_STRIDE;
    const length = table[at + RecordField.length]!;
    const changed = changedAt(buffer, table[at + RecordField.offset]!, length);
    if (changed !== undefined) latencies.push(now - changed);
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
