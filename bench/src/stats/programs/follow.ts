import { setTimeout } from "node:timers/promises";
import { fullScale } from "../../api/api-scale.js";
import { MeasuredServer } from "../../api/measured-server.js";
import { threadCpuMs } from "../../harness/process-cpu.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { FollowJob } from "../stats-job.js";

const FOLLOWED_WITHIN_MS = 120_000;

// One server and one pool, left alone: what it costs to follow what its hosts measure.
const job = await readJob<FollowJob>();
const { follow, intervalMs, settleMs, measureMs, nodeOptions } = job;
const server = await MeasuredServer.start({
  scale: fullScale,
  pools: [job.pool],
  nodeOptions,
  config: { stats: { follow, intervalMs } },
});
if (follow) await untilFollowed();
await setTimeout(settleMs);
const answersBefore = await readMetric("xo_stats_answers_total");
const mainBefore = threadCpuMs(server.pid);
await server.begin();
const startedAt = performance.now();
const lags: number[] = [];
const LOOK_MS = 5_000;
for (let left = measureMs; left > 0; left -= LOOK_MS) {
  await setTimeout(Math.min(LOOK_MS, left));
  lags.push(await readMetric("xo_stats_lag_seconds"));
}
const { cpuMs, longestBlockMs, longestOwnBlockMs } = await server.end();
const tookMs = performance.now() - startedAt;
const mainMs = threadCpuMs(server.pid) - mainBefore;
const [pool] = (await read("/pools?fields=id")) as [{ id: string }];
const coldMs = await timeOf(() => read(`/pools/${pool.id}/stats`));
const warmMs = await timeOf(() => read(`/pools/${pool.id}/stats`));
const figures = {
  coldMs,
  warmMs,
  cpuPercent: (100 * cpuMs) / tookMs,
  mainPercent: (100 * mainMs) / tookMs,
  longestBlockMs,
  longestOwnBlockMs,
  hosts: await readMetric("xo_stats_hosts"),
  failing: await readMetric("xo_stats_failing_hosts"),
  objects: await readMetric("xo_stats_objects"),
  keptBytes: await readMetric("xo_stats_bytes"),
  answersPerSecond:
    ((await readMetric("xo_stats_answers_total")) - answersBefore) /
    (tookMs / 1000),
  lagSeconds: lags.reduce((all, lag) => all + lag, 0) / lags.length,
  rssBytes: await server.memory(),
};
await server.stop();
reportFigures(figures);

/** On a busy machine the pool is loaded late. */
async function untilFollowed(): Promise<void> {
  const deadline = performance.now() + FOLLOWED_WITHIN_MS;
  while (!(await areFollowed())) {
    if (performance.now() > deadline)
      throw new Error("not all hosts, or no VM");
    await setTimeout(200);
  }
}

async function areFollowed(): Promise<boolean> {
  if ((await readMetric("xo_stats_hosts")) < job.hosts) return false;
  return (await readMetric("xo_stats_objects")) > job.hosts;
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

async function read(path: string): Promise<unknown> {
  const headers = { cookie: `authenticationToken=${server.token}` };
  const answer = await fetch(`${server.url}/rest/v0${path}`, { headers });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json();
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
