import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { startPool, type SimulatedPool } from "@xo-server/xapi-sim";
import { ApiSession, PASSWORD } from "./api-session.js";
import { phases, type Phase } from "./rolling/phases.js";
import { PoolLog } from "./rolling/pool-log.js";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=1800000");

/** All of its VMs can be migrated; a simulator in this process, whose calls and records are seen. */
const SIZE = { hosts: 4, vms: 8, seed: 1, pace: 0.05 };

interface Task {
  readonly status: string;
  readonly result?: object;
}

async function startServer(t: Test, { url, password }: SimulatedPool) {
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
    return { server, session: await ApiSession.open(t, url) };
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
function reached(
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

async function haOf({ database: db }: SimulatedPool): Promise<boolean> {
  const isEnabled = () => [...db.records("pool")][0]![1]["ha_enabled"] === true;
  // It is restored at the end of the task.
  for (let tries = 0; tries < 100 && !isEnabled(); tries++) await pause(50);
  return isEnabled();
}

for (const phase of phases)
  t.test(
    `an update is completed after kill -9 of the server while ${phase.name}`,
    LIMIT,
    async (t) => {
      const pool = await startPool(SIZE);
      t.teardown(() => pool.stop());
      const start = await startServer(t, pool);
      const { server, session: first } = await start();
      const { id } = (await first.all({ type: "pool" }))[0]!;
      const shared = await first.all({ type: "SR", shared: true });
      const sr = shared.find((one) => one["content_type"] === "user")!;
      await first.ask("pool.enableHa", { pool: id, heartbeatSrs: [sr.id] });

      const log = new PoolLog(pool.database);
      const isThere = reached(pool, phase, log);
      const path = `/pools/${id}/actions/rolling_update`;
      const begun = await first.rest("POST", path, phase.options ?? {});
      const { taskId } = (await begun.json()) as { taskId: string };
      await isThere;
      await server.stop("SIGKILL");

      const { session } = await start();
      const answer = await session.rest("GET", `/tasks/${taskId}?wait=true`);
      const task = (await answer.json()) as Task;
      t.equal(task.status, "success", JSON.stringify(task.result));
      t.same(
        [...log.watched].filter((vm) => !log.running().includes(vm)),
        [],
        "all VMs run",
      );
      t.same(log.lost, [], "no VM has ever stopped");
      const movesBack = phase.options !== undefined;
      t.same(log.needless({ movesBack }), [], "no VM has moved without need");
      t.ok(log.areAllUpdated, "all hosts are updated");
      t.ok(
        [...pool.database.records("host")].every(
          ([, { enabled }]) => enabled === true,
        ),
        "all hosts are enabled",
      );
      t.ok(await haOf(pool), "HA is enabled");
      t.match(await session.ask("pool.getRollingState", { pool: id }), {
        current: null,
        last: { hosts: 4, completed: 4 },
      });
    },
  );
