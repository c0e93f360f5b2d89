import { setTimeout } from "node:timers/promises";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { stampNow } from "../change-stamp.js";
import { LiveClients } from "../live-clients.js";
import { MeasuredServer } from "../measured-server.js";
import { SimulatedVms } from "../simulated-vms.js";

/** So that changes come at any moment of the pool's throttle, each in a message of its own. */
const PAUSE_MS = 330;

// One change of a VM at a time, sent to many connections.
const job = await readJob<ApiJob>();
const { fanOutClients: clients, fanOutChanges, settleMs } = job.scale;
const server = await MeasuredServer.start(job);
const vms = await SimulatedVms.open(job.pools[0]!);
const live = await LiveClients.open({
  url: server.url,
  token: server.token,
  clients,
});
await setTimeout(settleMs);
await vms.describe(0, stampNow());
await setTimeout(settleMs);
await live.delays();
await server.begin();
for (let i = 0; i < fanOutChanges; i++) {
  await vms.describe(i, stampNow());
  await setTimeout(PAUSE_MS + (i % 8) * 5);
}
await setTimeout(settleMs);
const { cpuMs, longestBlockMs, longestOwnBlockMs } = await server.end();
const delays = await live.delays();
live.close();
await server.stop();
reportFigures({
  ...delays,
  clients,
  notificationsPerChange: delays.messages / clients / fanOutChanges,
  cpuUsPerNotice: (cpuMs * 1000) / delays.messages,
  longestBlockMs,
  longestOwnBlockMs,
});
