import { setTimeout as pause } from "node:timers/promises";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import { fullScale } from "../../api/api-scale.js";
import { MeasuredServer } from "../../api/measured-server.js";
import { HealthWatch } from "../../measure/health-watch.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { BulkJob } from "../bulk-job.js";

// Starts a number of VMs of a pool, by a plain XAPI client or by the server.

/**
 * Duration of the measurement of background work: all hosts are polled for statistics once in it.
 */
const IDLE_MS = 5_000;

const job = await readJob<BulkJob>();
reportFigures(job.program === "bare" ? await bare(job) : await bulk(job));

async function bare({ pool, vms, concurrency }: BulkJob) {
  const { url, user, password } = pool;
  const decoder = createParserPool();
  const xapi = createXapi({ hosts: url, user, password, decoder });
  await xapi.connect();
  const filter =
    'field "is_a_template" = "false" and field "is_a_snapshot" = "false" and field "power_state" = "Halted"';
  const records = await xapi.call("VM.get_all_records_where", [filter]);
  const refs = Object.keys(records as object).slice(0, vms);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let next = 0;
  let succeeded = 0;
  const serve = async () => {
    for (let ref = refs[next++]; ref !== undefined; ref = refs[next++]) {
      await xapi.callAsync("VM.start", [ref, false, false]);
      succeeded++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, serve));
  const { user: own, system } = process.cpuUsage(before);
  const ms = performance.now() - startedAt;
  await xapi.disconnect();
  await decoder.close();
  const cpuMs = (own + system) / 1000;
  return { succeeded, ms, cpuMsPerVm: cpuMs / refs.length };
}

async function bulk({ pool, vms, concurrency, settleMs }: BulkJob) {
  const server = await MeasuredServer.start({
    scale: fullScale,
    pools: [pool],
    nodeOptions: [],
  });
  const admin = await server.connect();
  const page = (await admin.call("query.page", {
    type: "VM",
    filter: "power_state:Halted",
    limit: vms,
    fields: ["id"],
  })) as { rows: readonly { readonly id: string }[] };
  const ids = page.rows.map(({ id }) => id);
  await pause(settleMs);
  await server.begin();
  await pause(IDLE_MS);
  const idle = await server.end();
  const health = new HealthWatch(server.url);
  await server.begin();
  const startedAt = performance.now();
  const result = (await admin.call("bulk.run", {
    method: "vm.start",
    ids,
    concurrency,
    sync: true,
  })) as { readonly succeeded: number };
  const ms = performance.now() - startedAt;
  const { cpuMs, longestOwnBlockMs } = await server.end();
  const { p99Ms: healthP99Ms } = await health.stop();
  admin.close();
  await server.stop();
  const own = cpuMs - (idle.cpuMs * ms) / IDLE_MS;
  return {
    succeeded: result.succeeded,
    ms,
    longestOwnBlockMs,
    healthP99Ms,
    cpuMsPerVm: own / ids.length,
  };
}
