import { once } from "node:events";
import { WebSocket } from "ws";
import { readStamps } from "../../api/change-stamp.js";
import { percentile } from "../../harness/figures.js";
import type { ClientSwarmJob } from "../client-swarm.js";

// Very many signed-in connections, from as many addresses as the server's limit requires.
const PER_ADDRESS = 1500;
const AT_A_TIME = 50;

const [job] = (await once(process, "message")) as [ClientSwarmJob];
let delays: number[] = [];
let last = Buffer.alloc(0);
let lastStamps: readonly number[] = [];

async function open(index: number): Promise<void> {
  const socket = new WebSocket(`${job.url.replace("http", "ws")}/api/`, {
    perMessageDeflate: false,
    maxPayload: 1 << 30,
    localAddress: `127.0.0.${1 + Math.floor(index / PER_ADDRESS)}`,
  });
  await once(socket, "open");
  for (const [method, params] of [
    ["session.signIn", { token: job.token }],
    ["all.subscribe", {}],
  ] as const) {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    await once(socket, "message");
  }
  socket.on("message", note);
}

function note(data: Buffer): void {
  const now = performance.timeOrigin + performance.now();
  // All get the same bytes: they are read once.
  if (!data.equals(last)) {
    last = Buffer.from(data);
    lastStamps = readStamps(last.toString());
  }
  for (const stamp of lastStamps) delays.push(now - stamp);
}

for (let at = 0; at < job.sockets; at += AT_A_TIME) {
  const count = Math.min(AT_A_TIME, job.sockets - at);
  await Promise.all(Array.from({ length: count }, (_, i) => open(at + i)));
}
process.on("message", () => {
  process.send?.({
    received: delays.length,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
    maxMs: percentile(delays, 1),
  });
  delays = [];
});
process.on("disconnect", () => process.exit(0));
process.send?.("open");
