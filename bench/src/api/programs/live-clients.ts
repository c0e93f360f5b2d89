import { once } from "node:events";
import { percentile } from "../../harness/figures.js";
import { ApiClient } from "../api-client.js";
import { readStamps } from "../change-stamp.js";
import type { Delays, LiveClientsJob } from "../live-clients.js";

// Connections that are told of changes; each message of each of them is timed.
let delays: number[] = [];
let messages = 0;
let changes = 0;
let last: Buffer = Buffer.alloc(0);
let lastStamps: readonly number[] = [];
const seen = new Set<number>();

const [job] = (await once(process, "message")) as [LiveClientsJob];
for (let i = 0; i < job.clients; i++) {
  const client = await ApiClient.open(job.url, job.token);
  await client.call("all.subscribe", {});
  client.socket.on("message", (data) => {
    note(data as Buffer);
  });
}
process.on("message", () => {
  process.send?.(figures());
  delays = [];
  messages = changes = 0;
});
process.on("disconnect", () => process.exit(0));
process.send?.("open");

function note(data: Buffer): void {
  const now = performance.timeOrigin + performance.now();
  messages++;
  // All get the same bytes: they are read once.
  if (!data.equals(last)) {
    last = Buffer.from(data);
    lastStamps = readStamps(last.toString());
    for (const stamp of lastStamps) if (!seen.has(stamp)) changes++;
    for (const stamp of lastStamps) seen.add(stamp);
  }
  for (const stamp of lastStamps) delays.push(now - stamp);
}

function figures(): Delays {
  return {
    messages,
    changes,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
    maxMs: percentile(delays, 1),
  };
}
