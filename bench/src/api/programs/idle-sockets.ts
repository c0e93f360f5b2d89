import { setTimeout } from "node:timers/promises";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { LiveClients } from "../live-clients.js";
import { MeasuredServer } from "../measured-server.js";

// The cost of signed-in, idle connections.
const job = await readJob<ApiJob>();
const { idleSockets: clients, settleMs } = job.scale;
const server = await MeasuredServer.start(job);
const { url, token } = server;
// The first connections allocate what all connections share.
const first = { url, token, clients: Math.ceil(clients / 20) };
(await LiveClients.open(first)).close();
await setTimeout(settleMs);
const before = await server.memory();
const live = await LiveClients.open({ url, token, clients });
await setTimeout(settleMs);
const after = await server.memory();
live.close();
await server.stop();
reportFigures({
  clients,
  rssBytes: after,
  bytesPerClient: (after - before) / clients,
});
