import t from "tap";
import { startPool } from "@xo-server/xapi-sim";
import {
  enableHa,
  haOf,
  prepareServer,
  reached,
  SIZE,
} from "./rolling/killed-server.js";
import { phases } from "./rolling/phases.js";
import { PoolLog } from "./rolling/pool-log.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=1800000");

interface Task {
  readonly status: string;
  readonly result?: object;
}

for (const phase of phases)
  t.test(
    `an update is completed after kill -9 of the server while ${phase.name}`,
    LIMIT,
    async (t) => {
      const pool = await startPool(SIZE);
      t.teardown(() => pool.stop());
      const start = prepareServer(t, pool);
      const { server, session: first } = await start();
      const id = await enableHa(first);

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
      t.match(await session.request("pool.getRollingState", { pool: id }), {
        current: null,
        last: { hosts: 4, completed: 4 },
      });
    },
  );
