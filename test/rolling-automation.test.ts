import t from "tap";
import { startPool } from "@xo-server/xapi-sim";
import { Automation } from "./rolling/automation.js";
import {
  enableHa,
  prepareServer,
  reached,
  SIZE,
} from "./rolling/killed-server.js";
import { phases, type Phase } from "./rolling/phases.js";
import { PoolLog } from "./rolling/pool-log.js";
import { WatchedUpdate } from "./rolling/watched-update.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=900000");

const HALF_MINUTE = "*/30 * * * * *";
const SECOND = "* * * * * *";
const phaseOf = (name: string): Phase =>
  phases.find((one) => one.name === name)!;

/** How an update ends, or is suspended, once the load balancer and the job wait. */
const ENDS: readonly {
  readonly name: string;
  readonly factor?: number;
  /** Before the update. */
  readonly prepare?: (update: WatchedUpdate) => unknown;
  readonly end?: (update: WatchedUpdate) => unknown;
  /** The status of its task; absent: it has not ended. */
  readonly status?: string;
}[] = [
  { name: "has ended", status: "success" },
  {
    name: "was cancelled by a user",
    end: async ({ api, taskId }) =>
      api.request("task.abort", { id: await taskId }),
    status: "failure",
  },
  {
    name: "has stopped at a surprise",
    prepare: ({ pool }) =>
      pool.sim.failNext("pool.enable_ha", "INTERNAL_ERROR", ["xhad"]),
    status: "failure",
  },
  {
    name: "was suspended by a user",
    end: ({ api, pool }) =>
      api.request("pool.suspendRolling", { pool: pool.id }),
  },
  {
    name: "has stopped because its pool did not answer",
    factor: 120,
    end: ({ pool }) => pool.sim.faults.set("booting", true),
    status: "failure",
  },
];

for (const { name, factor, prepare, end, status } of ENDS)
  t.test(
    `the load balancer and jobs wait for an update, until it ${name}`,
    LIMIT,
    async (t) => {
      const update = await WatchedUpdate.start(t, factor);
      const { api, pool } = update;
      const automation = await Automation.start(api, pool.id, HALF_MINUTE);
      t.ok(await automation.isRestored(), "they act before");
      await prepare?.(update);
      // Time for both to reach the server.
      pool.sim.slowNext("host.evacuate", 300_000);
      await update.begin();
      await automation.balancerWaits();
      await automation.jobWaits();
      await end?.(update);
      if (status !== undefined) t.match(await update.ended(), { status });
      update.clearFaults();
      t.ok(await automation.isRestored(), "they act again");
      if (status !== undefined) return;
      await api.request("pool.continueRolling", { pool: pool.id });
      await automation.jobWaits();
      t.match(await update.ended(), { status: "success" });
      t.ok(await automation.isRestored(), "and after its end");
    },
  );

t.test(
  "after kill -9 jobs wait for the update that continues, and then act again",
  LIMIT,
  async (t) => {
    const pool = await startPool(SIZE);
    t.teardown(() => pool.stop());
    const start = prepareServer(t, pool);
    const { server, session: first } = await start();
    const id = await enableHa(first);
    const automation = await Automation.start(first, id, SECOND);
    const phase = phaseOf("a host is evacuated");
    const isThere = reached(pool, phase, new PoolLog(pool.database));
    const path = `/pools/${id}/actions/rolling_update`;
    const begun = await first.rest("POST", path, {});
    const { taskId } = (await begun.json()) as { taskId: string };
    await isThere;
    pool.slowNext("host.reboot", 5_000);
    await server.stop("SIGKILL");

    const { session } = await start();
    automation.api = session;
    await automation.jobWaits();
    const answer = await session.rest("GET", `/tasks/${taskId}?wait=true`);
    t.match(await answer.json(), { status: "success" });
    t.ok(await automation.isRestored());
  },
);
