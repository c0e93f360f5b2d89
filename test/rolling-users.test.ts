import t, { type Test } from "tap";
import { startPool } from "@xo-server/xapi-sim";
import { ApiSession } from "./api-session.js";
import {
  enableHa,
  haOf,
  prepareServer,
  reached,
  SIZE,
} from "./rolling/killed-server.js";
import { phases, type Phase } from "./rolling/phases.js";
import { PoolLog } from "./rolling/pool-log.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=900000");

const ADA = { email: "ada", password: "correct horse battery" };

interface Run {
  readonly status: string;
  readonly pools?: readonly { readonly error?: { readonly message: string } }[];
}

/** How an update is started by a user. @returns the id of its task */
type Begin = (ada: ApiSession, pool: string) => Promise<string>;

const byCall: Begin = async (ada, pool) => {
  const path = `/pools/${pool}/actions/rolling_update`;
  const begun = await ada.rest("POST", path, {});
  return ((await begun.json()) as { taskId: string }).taskId;
};

const byJob: Begin = async (ada, pool) => {
  const job = { type: "rollingUpdate", name: "night", groups: [[pool]] };
  const id = (await ada.request("job.create", { job })) as string;
  await ada.request("job.runNow", { id });
  return lastRun(ada, id).then(({ taskId }) => taskId);
};

async function lastRun(session: ApiSession, jobId?: string) {
  const about = jobId === undefined ? {} : { jobId };
  const { runs } = (await session.request("jobRun.list", about)) as {
    readonly runs: readonly (Run & { readonly taskId: string })[];
  };
  return runs[0]!;
}

/** An update that a user has started, in a phase. */
async function startedBy(t: Test, begin: Begin, phase: Phase) {
  const pool = await startPool(SIZE);
  t.teardown(() => pool.stop());
  const start = prepareServer(t, pool);
  const { server, url, session } = await start();
  const id = await enableHa(session);
  const user = { ...ADA, permission: "admin" };
  const userId = (await session.request("user.create", user)) as string;
  const log = new PoolLog(pool.database);
  const isThere = reached(pool, phase, log);
  const { email, password } = ADA;
  const ada = await ApiSession.open(t, url, email, password);
  const taskId = await begin(ada, id);
  await isThere;
  const taskOf = async (admin: ApiSession) => {
    const answer = await admin.rest("GET", `/tasks/${taskId}?wait=true`);
    return (await answer.json()) as {
      readonly status: string;
      readonly result?: object;
    };
  };
  return { pool, id, session, server, start, userId, log, taskOf };
}

const phaseOf = (name: string) => phases.find((one) => one.name === name)!;
const EVACUATED = phaseOf("a host is evacuated");
const REBOOTED = phaseOf("a host is rebooted");
const DELETED = /it is not resumed: its user was deleted/;

const LOSSES: readonly {
  readonly name: string;
  readonly begin: Begin;
  readonly phase: Phase;
  readonly lose: (admin: ApiSession, id: string) => Promise<unknown>;
  readonly reason: RegExp;
}[] = [
  {
    name: "a user who was deleted while a host is evacuated",
    begin: byCall,
    phase: EVACUATED,
    lose: (admin, id) => admin.request("user.delete", { id }),
    reason: DELETED,
  },
  {
    name: "a user who was deleted while a host is rebooted",
    begin: byCall,
    phase: REBOOTED,
    lose: (admin, id) => admin.request("user.delete", { id }),
    reason: DELETED,
  },
  {
    name: "a user who has lost all rights",
    begin: byCall,
    phase: EVACUATED,
    lose: (admin, id) => admin.request("user.set", { id, permission: "none" }),
    reason: /its user has no right on the pool any more/,
  },
  {
    name: "the user of a job, who was deleted",
    begin: byJob,
    phase: EVACUATED,
    lose: (admin, id) => admin.request("user.delete", { id }),
    reason: DELETED,
  },
];

for (const { name, begin, phase, lose, reason } of LOSSES)
  t.test(
    `after a crash, an update of ${name} stops, and all is as before it`,
    LIMIT,
    async (t) => {
      const started = await startedBy(t, begin, phase);
      const { pool, id, log, userId } = started;
      await lose(started.session, userId);
      await started.server.stop("SIGKILL");
      const { session } = await started.start();
      const task = await started.taskOf(session);
      t.match(task, {
        status: "failure",
        result: { code: "STOPPED_MIDWAY", message: reason },
      });
      t.match(await session.request("pool.getRollingState", { pool: id }), {
        current: { stopped: reason },
      });
      const vms = log.watched.filter((vm) => !log.running().includes(vm));
      t.same(vms, [], "all VMs run");
      const hosts = [...pool.database.records("host")];
      t.ok(hosts.every(([, host]) => host["enabled"] === true));
      t.ok(await haOf(pool), "HA is enabled");
      if (begin === byJob)
        t.match(await lastRun(session), { status: /interrupted|failure/ });

      const update = { pool: id };
      t.equal(
        await session.request("pool.rollingUpdate", update),
        true,
        "resumed",
      );
      t.ok(log.areAllUpdated);
      t.same(log.lost, [], "no VM has ever stopped");
    },
  );

t.test("an update continues when its user is deleted", LIMIT, async (t) => {
  const started = await startedBy(t, byCall, EVACUATED);
  const { session, userId, log } = started;
  await session.request("user.delete", { id: userId });
  t.match(await started.taskOf(session), { status: "success" });
  t.ok(log.areAllUpdated);
});
