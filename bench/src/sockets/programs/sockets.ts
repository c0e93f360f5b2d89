import { setTimeout } from "node:timers/promises";
import { stampNow } from "../../api/change-stamp.js";
import { fullScale } from "../../api/api-scale.js";
import { MeasuredServer } from "../../api/measured-server.js";
import { SimulatedVms } from "../../api/simulated-vms.js";
import { readJob, reportFigures } from "../../measure/job.js";
import { ClientSwarm } from "../client-swarm.js";
import type { SocketsJob } from "../sockets-job.js";

// One server, very many sockets: what they cost while nothing happens, and when something does.
const job = await readJob<SocketsJob>();
const { pool, sockets, idleMs, settleMs, changes } = job;
const server = await MeasuredServer.start({
  scale: fullScale,
  pools: [pool],
  nodeOptions: [],
});
const { url, token } = server;
const vms = await SimulatedVms.open(pool);
// The first ones bring what is there once for all.
(
  await ClientSwarm.open({ url, token, sockets: Math.ceil(sockets / 20) })
).close();
await setTimeout(settleMs);
const before = await server.memory();
await server.begin();
const startedAt = performance.now();
const swarm = await ClientSwarm.open({ url, token, sockets });
const openMs = performance.now() - startedAt;
const opening = await server.end();
await setTimeout(settleMs);
const after = await server.memory();
await server.begin();
await setTimeout(idleMs);
const idle = await server.end();
await swarm.received();
await server.begin();
for (let i = 0; i < changes; i++) {
  await vms.describe(i, stampNow());
  await setTimeout(settleMs);
}
const pushing = await server.end();
const received = await swarm.received();
swarm.close();
await server.stop();
reportFigures({
  sockets,
  rssBytes: after,
  bytesPerSocket: (after - before) / sockets,
  opensPerSecond: (sockets * 1000) / openMs,
  openLongestOwnBlockMs: opening.longestOwnBlockMs,
  idleCpuMsPerSecond: (idle.cpuMs * 1000) / idleMs,
  idleLongestOwnBlockMs: idle.longestOwnBlockMs,
  receivedShare: received.received / (sockets * changes),
  pushP50Ms: received.p50Ms,
  pushP99Ms: received.p99Ms,
  pushMaxMs: received.maxMs,
  pushCpuUsPerSocket: (pushing.cpuMs * 1000) / (sockets * changes),
  pushLongestOwnBlockMs: pushing.longestOwnBlockMs,
});
