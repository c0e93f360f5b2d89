import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { AnswerMemory, HostStats } from "@xo-server/xo-server";
import { readJob, reportFigures } from "../../measure/job.js";
import type { MemoryJob } from "../stats-job.js";

// Ten minutes of very many VMs, with legends made here: what they take in memory.
const job = await readJob<MemoryJob>();
const { pools, hostsPerPool, vmsPerHost, columnsPerVm, limitBytes } = job;
const STEP = 5;
const ROWS = 120;
const columns = vmsPerHost * columnsPerVm;
const values = new Float32Array(ROWS * columns).fill(1);
const legends = new Map<string, Uint8Array<ArrayBuffer>>();
let now = Date.UTC(2026, 0, 1);
let rows = 1;
const stats = new HostStats({
  limitBytes,
  memory: new AnswerMemory(),
  clock: {
    now: () => now,
    setTimeout: () => undefined,
    clearTimeout: () => undefined,
  },
  inventory: {
    runInSlices: async (_lane, steps) => {
      while (steps.next().done !== true);
    },
  },
  parser: {
    readXport: async (_parts, host, known) => {
      const end = Math.floor(now / 1000);
      const table = { step: STEP, end, rows, columns, values, legendKey: host };
      return known === host ? table : { ...table, legend: legends.get(host)! };
    },
    readRrd: async () => [],
  },
});
const xapi = {
  getStream: async () => ({
    status: 200,
    headers: {},
    task: undefined,
    body: Readable.from([]),
  }),
};
const hosts = Array.from({ length: pools * hostsPerPool }, (_, i) => ({
  id: `h${i}`,
  pool: `p${i % pools}`,
  address: "192.0.2.1",
  xapi,
}));
const names = Array.from({ length: columnsPerVm }, (_, i) => `metric_${i}`);
for (const { id } of hosts) {
  const lines = Array.from(
    { length: vmsPerHost },
    () => `vm\t${randomUUID()}\t${names.join("\t")}`,
  );
  legends.set(id, new Uint8Array(Buffer.from(lines.join("\n"))));
}
const before = await settledMemory();
// The first answer has a row, as of a server that has just started; the second all that an archive has.
for (rows of [1, ROWS - 1]) {
  now += rows * STEP * 1000;
  for (const host of hosts) await stats.fetch(host);
  const steps = stats.seriesStore.sweep(() => false);
  while (steps.next().done !== true);
}
now += STEP * 1000;
rows = 1;
for (const host of hosts) await stats.fetch(host);
legends.clear();
const after = await settledMemory();
const vms = stats.seriesStore.objects;
reportFigures({
  vms,
  rowsKept: stats.seriesStore.share.rows,
  estimatedBytes: stats.bytes,
  limitBytes,
  usedBytes: after - before,
  bytesPerVm: (after - before) / vms,
});

/** Bytes of the heap and off it, after a full collection. */
async function settledMemory(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rss } = process.memoryUsage();
  return rss;
}
