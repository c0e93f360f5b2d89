import { Agent, get } from "node:http";
import { setTimeout } from "node:timers/promises";
import { median, percentile } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { setChurn } from "../churn.js";
import { LiveClients } from "../live-clients.js";
import { MeasuredServer } from "../measured-server.js";

const PATH = "/rest/v0/vms?fields=*";

/** Enough that the server always has one to work on. */
const REQUESTS = 2;
const WARM = 3;

// A list of all VMs again and again, while others receive changes.
const job = await readJob<ApiJob>();
const { scale } = job;
const server = await MeasuredServer.start(job);
const agent = new Agent({ keepAlive: true, maxSockets: REQUESTS });
const live = await LiveClients.open({
  url: server.url,
  token: server.token,
  clients: scale.liveClients,
});
for (let i = 0; i < WARM; i++) await request();

const quiet = await measure();
await setChurn(job.pools, scale.churn);
await setTimeout(Math.min(2_000, scale.restMs));
await live.delays();
const busy = await measure();
const delays = await live.delays();
live.close();
await setChurn(job.pools, 0);
await server.stop();
reportFigures({
  bytes: busy.bytes,
  perSecond: busy.perSecond,
  perCoreSecond: busy.perCoreSecond,
  quietPerSecond: quiet.perSecond,
  quietPerCoreSecond: quiet.perCoreSecond,
  medianMs: busy.medianMs,
  p99Ms: busy.p99Ms,
  longestBlockMs: busy.longestBlockMs,
  longestOwnBlockMs: busy.longestOwnBlockMs,
  notices: delays.messages,
  delayMs: delays.p50Ms,
  delayP99Ms: delays.p99Ms,
});

async function measure() {
  const times: number[] = [];
  let bytes = 0;
  const start = performance.now();
  const lane = async () => {
    while (performance.now() - start < scale.restMs) {
      const start = performance.now();
      bytes = await request();
      times.push(performance.now() - start);
    }
  };
  await server.begin();
  await Promise.all(Array.from({ length: REQUESTS }, lane));
  const seconds = (performance.now() - start) / 1000;
  const figures = await server.end();
  return {
    ...figures,
    bytes,
    perSecond: times.length / seconds,
    perCoreSecond: times.length / (figures.cpuMs / 1000),
    medianMs: median(times),
    p99Ms: percentile(times, 0.99),
  };
}

/** @returns bytes of the answer */
async function request(): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { cookie: `authenticationToken=${server.token}` };
    get(`${server.url}${PATH}`, { agent, headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
      answer.on("error", reject);
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(bytes);
        else reject(new Error(`status ${answer.statusCode}`));
      });
    }).on("error", reject);
  });
}
