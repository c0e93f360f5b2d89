import { setTimeout } from "node:timers/promises";
import { ApiClient } from "../api/api-client.js";
import type { Figures } from "../harness/figures.js";
import { processCpuMs } from "../harness/process-cpu.js";
import { ServerProcess } from "../harness/server-process.js";
import type { PoolAddress } from "../harness/simulator.js";
import { setChurn } from "../measure/set-churn.js";
import { HealthWatch } from "../measure/health-watch.js";
import { measureRequests } from "./requests.js";
import { VM_LIST } from "./vm-list.js";

const PASSWORD = "bench bench bench";
const ADMIN = { email: "admin", password: PASSWORD };

/** How often the list is requested until it is complete, in ms. */
const LOOK_MS = 20;
const TIMEOUT_MS = 300_000;

/** Changes a second of a single pool, and how long the pool changes before it is measured, in ms. */
const CHURN = 200;
const CHURN_BEFORE_MS = 3_000;
/** How long it changes between the two measurements, in ms: V8 compiles in the first minute. */
const CHURN_BETWEEN_MS = 40_000;

interface StartOptions {
  /** Folder of the repository with the program. */
  readonly root: string;
  /** Path of the configuration. */
  readonly config: string;
  readonly pools: readonly PoolAddress[];
  /** VMs of all pools. */
  readonly vms: number;
  /** Token of a client that was signed in before; absent: it signs in with the password. */
  readonly token?: string;
  /**
   * Time in ms in which the server is left alone, before it counts as at rest: it
   * writes snapshots and fills columns.
   */
  readonly settleMs: number;
  /** Time in ms in which it is measured at rest after that, and while a single pool changes. */
  readonly restMs: number;
}

interface MeasuredStart {
  readonly figures: Figures;
  /** Of the client, for its next start; absent: no client has signed in. */
  readonly token?: string;
}

/**
 * Starts the server as a process of its own and uses it as a client does: until
 * it listens, until the list of VMs is complete, then some other requests.
 * Times are from the start of the process, in ms; CPU times are those of the
 * whole process until then.
 */
export async function measureStart({
  root,
  config,
  pools,
  vms,
  token,
  settleMs,
  restMs,
}: StartOptions): Promise<MeasuredStart> {
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new ServerProcess(config, env, 0, root);
  try {
    const listeningMs = await server.listening();
    const listeningCpuMs = processCpuMs(server.pid);
    if (vms === 0) return { figures: { listeningMs, listeningCpuMs } };
    const url = await server.url;
    const health = new HealthWatch(url);
    const client = await ApiClient.open(url);
    await client.call(
      "session.signIn",
      token === undefined ? ADMIN : { token },
    );
    const list = await untilComplete(client, server.startedAt, vms);
    const listCpuMs = processCpuMs(server.pid);
    const requests = await measureRequests(client, vms);
    const nextToken = (await client.call("token.create", {})) as string;
    const { p99Ms, longestMs } = await health.stop();
    client.close();
    const longest = "xo_event_loop_longest_block_seconds";
    const longestBlockMs = 1_000 * (await server.read(longest));
    const settleCpuMsPerSecond = await cpuDuring(server.pid, settleMs);
    const restCpuMsPerSecond = await cpuDuring(server.pid, restMs);
    const figures = {
      listeningMs,
      listeningCpuMs,
      ...list,
      listCpuMs,
      ...requests,
      healthP99Ms: p99Ms,
      healthLongestMs: longestMs,
      longestBlockMs,
      settleCpuMsPerSecond,
      restCpuMsPerSecond,
      ...(pools.length === 1 && {
        ...(await measureChurn(server, pools, restMs)),
      }),
      rssBytes: await server.read("xo_process_resident_memory_bytes"),
    };
    return { figures, token: nextToken };
  } finally {
    await server.stop();
  }
}

/** @returns when the first rows were there, and when all VMs were counted */
async function untilComplete(
  client: ApiClient,
  startedAt: number,
  vms: number,
): Promise<{ firstRowsMs: number; listMs: number }> {
  let firstRowsMs = Number.NaN;
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    const page = (await client.call("query.page", VM_LIST)) as {
      readonly total: number;
    };
    const sinceStart = performance.now() - startedAt;
    if (page.total > 0 && Number.isNaN(firstRowsMs)) firstRowsMs = sinceStart;
    if (page.total >= vms) return { firstRowsMs, listMs: sinceStart };
    await setTimeout(LOOK_MS);
  }
  throw new Error(`the list of VMs was not complete in ${TIMEOUT_MS / 1e3} s`);
}

/** @returns CPU time of the process in the next `ms`, in ms a second */
async function cpuDuring(pid: number, ms: number): Promise<number> {
  const before = processCpuMs(pid);
  await setTimeout(ms);
  return ((processCpuMs(pid) - before) / ms) * 1_000;
}

/** @returns CPU time while the pool changes and one client has the list open, in ms a second: at first, and later */
async function measureChurn(
  server: ServerProcess,
  pools: readonly PoolAddress[],
  ms: number,
): Promise<Figures> {
  const client = await ApiClient.open(await server.url);
  await client.call("session.signIn", ADMIN);
  await client.call("query.open", { name: "vms", offset: 0, ...VM_LIST });
  await setChurn(pools, CHURN);
  await setTimeout(Math.min(CHURN_BEFORE_MS, ms));
  const firstChurnCpuMsPerSecond = await cpuDuring(server.pid, ms);
  await setTimeout(Math.min(CHURN_BETWEEN_MS, ms));
  const churnCpuMsPerSecond = await cpuDuring(server.pid, ms);
  await setChurn(pools, 0);
  client.close();
  return { firstChurnCpuMsPerSecond, churnCpuMsPerSecond };
}
