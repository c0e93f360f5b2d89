import { once } from "node:events";
import { percentile } from "../../harness/figures.js";
import { ApiClient } from "../api-client.js";
import { readStamps } from "../change-stamp.js";
import type { Delays, LiveClientsJob } from "../live-clients.js";

/** Messages that may be on their way to the last client while the first gets others. */
const KEPT = 64;

interface Known {
  readonly data: Buffer;
  /** Of changes that no earlier message reported. */
  readonly stamps: readonly number[];
}

// Connections that receive changes; each message of each of them is timed.
let delays: number[] = [];
let messages = 0;
let changes = 0;
const known: Known[] = [];
const seen = new Set<number>();
/** Stamps of before are from other measurements. */
const openedAt = now();

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
  const at = now();
  messages++;
  for (const stamp of stampsOf(data)) delays.push(at - stamp);
}

/** All clients get the same bytes: they are read once. An object that changes again brings its old stamps along. */
function stampsOf(data: Buffer): readonly number[] {
  const before = known.find((one) => one.data.equals(data));
  if (before !== undefined) return before.stamps;
  const stamps = readStamps(data.toString()).filter(
    (stamp) => stamp > openedAt && !seen.has(stamp),
  );
  for (const stamp of stamps) seen.add(stamp);
  changes += stamps.length;
  known.push({ data: Buffer.from(data), stamps });
  if (known.length > KEPT) known.shift();
  return stamps;
}

function now(): number {
  return performance.timeOrigin + performance.now();
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
