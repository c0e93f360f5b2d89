import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { phases } from "./rolling/phases.js";
import { WatchedUpdate } from "./rolling/watched-update.js";

const LIMIT = { timeout: 240_000 };
t.comment("timeout=900000");

interface State {
  readonly current: {
    readonly task?: string;
    readonly stopped?: string;
  } | null;
}

const stateOf = async ({ api, pool }: WatchedUpdate) =>
  (await api.request("pool.getRollingState", { pool: pool.id })) as State;

/** Repeats until the state is as expected; the time limit of the test ends it. */
async function until(
  update: WatchedUpdate,
  isMet: (state: State) => boolean,
): Promise<State> {
  for (;;) {
    const state = await stateOf(update);
    if (isMet(state)) return state;
    await pause(20);
  }
}

t.test(
  "an update that is started over JSON-RPC is a task, which its state names and a user cancels",
  LIMIT,
  async (t) => {
    const update = await WatchedUpdate.start(t);
    const { api, pool } = update;
    const params = { pool: pool.id };
    const answer = api.call("pool.rollingUpdate", params);
    const { current } = await until(
      update,
      ({ current }) => current?.task !== undefined,
    );
    const task = async () => {
      const answer = await api.rest("GET", `/tasks/${current!.task!}`);
      return (await answer.json()) as object;
    };
    t.match(await task(), {
      status: "pending",
      properties: {
        name: /^Rolling update of /,
        objectType: "pool",
        objectId: pool.id,
        operation: "pool.rollingUpdate",
      },
    });
    await api.request("task.abort", { id: current!.task });
    t.match(await answer, { error: { message: /stopped/ } });
    t.match(await task(), { status: "failure" });
    t.match((await stateOf(update)).current, { stopped: /aborted/ });
    t.equal(await api.request("pool.rollingUpdate", params), true, "resumed");
    t.same(await update.notUpdated(), []);
    t.same((await stateOf(update)).current, null);
  },
);

const JOBS: Readonly<Record<string, (pool: string) => object>> = {
  rollingUpdate: (pool) => ({ groups: [[pool]] }),
  call: (pool) => ({
    method: "pool.rollingUpdate",
    paramsVector: { type: "set", values: [{ pool }] },
  }),
};

for (const [type, bodyOf] of Object.entries(JOBS))
  t.test(
    `the state of an update that a job (${type}) has started names the task that users see`,
    LIMIT,
    async (t) => {
      const update = await WatchedUpdate.start(t);
      const { api, pool } = update;
      const job = { type, name: "night", ...bodyOf(pool.id) };
      const jobId = (await api.request("job.create", { job })) as string;
      const run = api.call("job.runNow", { id: jobId });
      const { current } = await until(
        update,
        ({ current }) => current?.task !== undefined,
      );
      const id = current!.task!;
      const read = async (path: string) =>
        (await (await api.rest("GET", path)).json()) as object;
      t.match(await read(`/tasks/${id}`), { id, status: "pending" });
      const listed = (await read("/tasks?fields=id")) as { id: string }[];
      t.ok(listed.some((task) => task.id === id));
      const runs = (await api.request("jobRun.list", { jobId })) as object;
      t.match(runs, { runs: [{ taskId: id }] });
      await api.request("task.abort", { id });
      await run;
      t.match(await read(`/tasks/${id}?wait=true`), { status: "failure" });
      t.match(await api.request("jobRun.list", { jobId }), {
        runs: [{ status: "aborted" }],
      });
      t.match((await stateOf(update)).current, { stopped: /aborted/ });
    },
  );

t.test(
  "an update that is cancelled while a host reboots waits for it, and enables HA again",
  LIMIT,
  async (t) => {
    const update = await WatchedUpdate.start(t);
    const { api, hosts, pool } = update;
    pool.sim.failBoot(hosts[1]!, "never");
    const id = await update.begin();
    const offline = async () => {
      const all = await api.all({ type: "host" });
      const host = all.find((one) => one["_xapiRef"] === hosts[1]);
      return host?.["power_state"] !== "Running";
    };
    while (!(await offline())) await pause(5);
    await api.request("task.abort", { id });
    // Time in which it would end, if it did not wait.
    await Promise.race([update.ended(), pause(1_000)]);
    pool.sim.reviveHost(hosts[1]!);
    const { status, result } = await update.ended();
    t.equal(status, "failure");
    t.match(result, { message: /aborted/ });
    t.equal(result?.data?.["notRestored"], undefined);
    t.same(await update.worse(), [], "HA and all hosts are enabled");
  },
);

t.test(
  "a host that does not return leaves HA disabled: abandoning the update restores it",
  LIMIT,
  async (t) => {
    const update = await WatchedUpdate.start(t, 60);
    const { api, pool, hosts } = update;
    const params = { pool: pool.id };
    const haIsEnabled = () =>
      [...pool.db.records("pool")][0]![1]["ha_enabled"] === true;
    t.match(await api.call("pool.abandonRolling", params), {
      error: { data: { expected: "stopped" } },
    });
    pool.sim.failBoot(hosts[1]!, "never");
    await update.begin();
    const todo = /still disabled: HA .*start host \S+, or remove it/;
    t.match(await update.ended(), {
      status: "failure",
      result: {
        code: "STOPPED_MIDWAY",
        message: todo,
        data: { notRestored: todo },
      },
    });
    t.match((await stateOf(update)).current, { stopped: todo });
    t.match(await api.call("pool.abandonRolling", params), {
      error: { message: /offline/ },
    });
    t.match((await stateOf(update)).current, { stopped: todo }, "as before");
    t.notOk(haIsEnabled());
    pool.sim.reviveHost(hosts[1]!);
    t.equal(await api.request("pool.abandonRolling", params), true);
    t.ok(haIsEnabled(), "HA is enabled");
    t.same((await stateOf(update)).current, null);
    t.same(update.log.lost, [], "no VM has ever stopped");
  },
);

t.test(
  "an update is abandoned by force while HA cannot be enabled",
  LIMIT,
  async (t) => {
    const update = await WatchedUpdate.start(t);
    const { api, pool } = update;
    pool.sim.failNext("host.evacuate", "INTERNAL_ERROR", ["xenopsd"]);
    pool.sim.failNext("pool.enable_ha", "HA_NO_PLAN", [], { times: 2 });
    await update.begin();
    t.match(await update.ended(), {
      status: "failure",
      result: { data: { notRestored: /still disabled: HA/ } },
    });
    const params = { pool: pool.id };
    t.match(await api.call("pool.abandonRolling", params), { error: {} });
    pool.sim.failNext("pool.enable_ha", "HA_NO_PLAN");
    const forced = { ...params, force: true };
    t.equal(await api.request("pool.abandonRolling", forced), true);
    t.same((await stateOf(update)).current, null);
    const fresh = pool.db.records("pool").next().value as [string, object];
    t.match(fresh[1], { ha_enabled: false }, "as the pool has refused it");
  },
);

t.test(
  "an update stops when its pool does not answer for 45 minutes",
  LIMIT,
  async (t) => {
    const update = await WatchedUpdate.start(t, 120);
    const { pool } = update;
    const install = phases.find(({ name }) => name.includes("installed"))!;
    update.injectAt(install, () => pool.sim.faults.set("booting", true));
    await update.begin();
    const { status, result } = await update.ended();
    t.equal(status, "failure");
    t.match(result, {
      code: "STOPPED_MIDWAY",
      message: /has not answered for 45 minutes/,
      data: {
        where: /install updates$/,
        cause: { code: "UNREACHABLE" },
        notRestored: /still disabled: HA/,
      },
    });
    update.clearFaults();
    await update.begin();
    const again = await update.ended();
    t.equal(again.status, "success", JSON.stringify(again.result));
    t.same(await update.worse(), [], "all is as before");
    t.same(update.log.lost, [], "no VM has ever stopped");
  },
);
