import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import type { SimulatedPool } from "@xo-server/xapi-sim";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { StatusPage } from "../status-page.js";
import type { Phase } from "./phases.js";
import type { PoolLog } from "./pool-log.js";

/**
 * All VMs of the pool can be migrated; the simulator runs in this process, so that
 * tests see its calls and records.
 */
export const SIZE = { hosts: 4, vms: 8, seed: 1, pace: 0.05 };

/** @returns starts the server, and starts it again after it was killed */
export function prepareServer(t: Test, { url, password }: SimulatedPool) {
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${url}"], password: ${password} }]`,
  });
  return async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD, HOME: join(cwd) };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return { server, url, session: await ApiSession.open(t, url) };
  };
}

/** References of the coordinator and of another host. */
function hostsOf({ database: db }: SimulatedPool) {
  const [[, { master }]] = [...db.records("pool")] as [
    [string, { readonly master: string }],
  ];
  const others = [...db.refs("host")].filter((ref) => ref !== master);
  return { coordinator: master, second: others.sort()[0]! };
}

/** Resolves when the pool gets the call of a phase. */
export function reached(
  pool: SimulatedPool,
  { method, host, isReached }: Phase,
  log: PoolLog,
): Promise<void> {
  const conditions = host && { object: hostsOf(pool)[host] };
  return new Promise((resolve) => {
    const wait = () => {
      pool.whenCalled(method, onCall, conditions);
    };
    const onCall = () => {
      if (isReached?.({ log }) === false) wait();
      else resolve();
    };
    wait();
  });
}

/** Whether HA is enabled, or will be soon. */
export async function haOf({ database: db }: SimulatedPool): Promise<boolean> {
  const isEnabled = () => [...db.records("pool")][0]![1]["ha_enabled"] === true;
  // It is restored at the end of the task.
  for (let tries = 0; tries < 100 && !isEnabled(); tries++) await pause(50);
  return isEnabled();
}

/** Enables HA as an administrator does. @returns the id of the pool */
export async function enableHa(session: ApiSession): Promise<string> {
  const { id } = (await session.all({ type: "pool" }))[0]!;
  const shared = await session.all({ type: "SR", shared: true });
  const sr = shared.find((one) => one["content_type"] === "user")!;
  await session.request("pool.enableHa", { pool: id, heartbeatSrs: [sr.id] });
  return id;
}
